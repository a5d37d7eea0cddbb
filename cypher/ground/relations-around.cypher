// relations-around: the relations at given entities, at most so many an entity, with their ends' names and what they say.
// Of an entity with very many relations the first 1,000 that the store gives are looked at, so that a super-node costs no more.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 100              -- INTEGER: relations an entity at most
//
// returns: element_id STRING, start STRING, end STRING, subject STRING, predicate STRING, type STRING, object STRING, description STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND @is(o, Endpoint)
  WITH r LIMIT 1000
  WITH r ORDER BY elementId(r) LIMIT $most
  RETURN r, startNode(r) AS a, endNode(r) AS b
}
RETURN DISTINCT elementId(r) AS element_id, elementId(a) AS start, elementId(b) AS end,
       left(@shown(a), 300) AS subject,
       left(@label(r), 200) AS predicate, type(r) AS type,
       left(@shown(b), 300) AS object,
       left(@description(r, Relation), 1000) AS description
