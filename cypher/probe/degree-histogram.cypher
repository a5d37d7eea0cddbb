// degree-histogram: how many entities have each total degree (parallel relations count each, a self-loop counts 2).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: degree INTEGER, entities INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, COUNT {
  MATCH (e)-[r]-(o)
  WHERE type(r) IN $layout.relation_types
    AND ($layout.relations_join_entities_only OR (
      any(l IN labels(o) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(o))
    AND ($layout.scope_property IS NULL OR o[$layout.scope_property] = $layout.scope_value)))
} + COUNT { MATCH (e)-[r]->(e) WHERE type(r) IN $layout.relation_types } AS degree
RETURN degree, count(*) AS entities
ORDER BY degree
