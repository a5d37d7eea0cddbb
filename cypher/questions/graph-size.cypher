// graph-size: how many entities and relations the graph has.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: entities INTEGER, relations INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
RETURN count(e) AS entities, sum(COUNT {
  (e)-[r]->(o)
  WHERE type(r) IN $layout.relation_types
    AND ($layout.relations_join_entities_only OR (any(l IN labels(o) WHERE l IN $layout.entity_labels) AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)))
}) AS relations
