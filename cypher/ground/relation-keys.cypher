// relation-keys: what a relation may be named by when it was retrieved: its key and its description, one relation after another (streamed).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, key STRING, description STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $layout.relation_types
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
  AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
WITH r, left(coalesce(toStringOrNull(r[$layout.key_property]), toStringOrNull(r.id), toStringOrNull(r.uuid)), 500) AS key,
     left(@description(r, Relation), 2000) AS description
WHERE key IS NOT NULL OR description IS NOT NULL
RETURN elementId(r) AS element_id, key, description
