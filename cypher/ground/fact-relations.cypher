// fact-relations: the relations at given entities as text, with the entity at the other end.
// At most $most an entity, so that a super-node costs no more than another entity.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 50               -- INTEGER: relations an entity at most
//
// returns: element_id STRING, relation STRING, said STRING, other STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND @is(o, Entity)
  WITH r, o, startNode(r) AS a, endNode(r) AS b
  LIMIT 1000
  WITH r, o, left(@shown(a), 300) + ' -['
    + left(@label(r), 200) + ']-> '
    + left(@shown(b), 300) AS said
  WHERE said IS NOT NULL
  ORDER BY said, elementId(r)
  LIMIT $most
  RETURN elementId(r) AS relation, said, elementId(o) AS other
}
RETURN elementId(e) AS element_id, relation, said, other
