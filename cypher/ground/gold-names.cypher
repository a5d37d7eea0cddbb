// gold-names: the names and aliases of every entity, one after another, to be held against gold names.
// Read once, as a stream: no index is needed and none is made.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, name STRING, aliases LIST OF STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, @shown(e) AS name
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, left(name, 2000) AS name,
       reduce(all = [], k IN $layout.alias_keys | all + CASE
         WHEN e[k] IS NULL THEN []
         WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] WHERE toStringOrNull(x) IS NOT NULL | left(toStringOrNull(x), 300)]
         ELSE [x IN [toStringOrNull(e[k])] WHERE x IS NOT NULL | left(x, 300)] END)[..50] AS aliases
