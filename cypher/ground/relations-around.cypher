// relations-around: the relations at given entities, at most so many an entity, with their ends' names and what they say.
// Of an entity with very many relations the first 1,000 that the store gives are looked at, so that a super-node costs no more.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 100              -- INTEGER: relations an entity at most
//
// returns: element_id STRING, start STRING, end STRING, subject STRING, predicate STRING, type STRING, object STRING, description STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[r]-(o)
  WHERE type(r) IN $layout.relation_types AND o <> e
    AND ($layout.relations_join_entities_only OR (
      any(l IN labels(o) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)))
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(o))
    AND ($layout.scope_property IS NULL OR o[$layout.scope_property] = $layout.scope_value)
  WITH r LIMIT 1000
  WITH r ORDER BY elementId(r) LIMIT $most
  RETURN r, startNode(r) AS a, endNode(r) AS b
}
RETURN DISTINCT elementId(r) AS element_id, elementId(a) AS start, elementId(b) AS end,
       left(@shown(a), 300) AS subject,
       left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS predicate, type(r) AS type,
       left(@shown(b), 300) AS object,
       left(@description(r, Relation), 1000) AS description
