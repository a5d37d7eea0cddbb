// fact-entities: the name and description of every entity, one after another, to be embedded (streamed).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, name STRING, description STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, @shown(e) AS name
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, left(name, 300) AS name,
       left(@description(e, Entity), 1000) AS description
