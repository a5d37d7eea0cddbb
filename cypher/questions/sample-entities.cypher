// sample-entities: every entity that has a name, with its key, type and degree (streamed).
// Degree: its relations with other such entities, parallel ones each, self-loops not: what cannot be named cannot be asked about.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, key STRING, name STRING, type STRING, degree INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  AND trim(coalesce(@shown(e), '')) <> ''
RETURN elementId(e) AS element_id, left(toStringOrNull(e[$layout.key_property]), 300) AS key, left(@shown(e), 300) AS name,
       left(@type(e), 200) AS type,
       COUNT {
  MATCH (e)-[r]-(o)
  WHERE type(r) IN $layout.relation_types AND o <> e
    AND trim(coalesce(@shown(o), '')) <> ''
    AND ($layout.relations_join_entities_only OR (
      any(l IN labels(o) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)))
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(o))
    AND ($layout.scope_property IS NULL OR o[$layout.scope_property] = $layout.scope_value)
} AS degree
