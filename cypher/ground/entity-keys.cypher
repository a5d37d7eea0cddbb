// entity-keys: the layout's own key of every entity that has one, one after another (streamed).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, key STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, toStringOrNull(e[$layout.key_property]) AS key
WHERE key IS NOT NULL
RETURN elementId(e) AS element_id, left(key, 500) AS key
