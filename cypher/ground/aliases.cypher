// aliases: the aliases of every entity that has some, one after another (streamed).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, aliases LIST OF STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, reduce(all = [], k IN $layout.alias_keys | all + CASE
  WHEN e[k] IS NULL THEN []
  WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] WHERE toStringOrNull(x) IS NOT NULL | left(toStringOrNull(x), 300)]
  ELSE [x IN [toStringOrNull(e[k])] WHERE x IS NOT NULL | left(x, 300)] END)[..50] AS aliases
WHERE size(aliases) > 0
RETURN elementId(e) AS element_id, aliases
