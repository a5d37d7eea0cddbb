// fragmented-entity: every named entity, to be compared with the others by surface form.
// The step after it blocks the names, compares only within blocks, and asks probe/entity-contexts.cypher what two entities share.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, key STRING, name STRING, type STRING, aliases LIST OF STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, @name(e) AS name
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, coalesce(toStringOrNull(e[$layout.key_property]), name) AS key, left(name, 300) AS name,
       @type(e) AS type,
       reduce(all = [], k IN $layout.alias_keys | all + CASE
         WHEN e[k] IS NULL THEN []
         WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] WHERE toStringOrNull(x) IS NOT NULL | toStringOrNull(x)]
         ELSE [x IN [toStringOrNull(e[k])] WHERE x IS NOT NULL] END) AS aliases
