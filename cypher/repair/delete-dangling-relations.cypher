// delete-dangling-relations: deletes relations to ends that were never extracted, and ends that an import made for them and nothing needs any more.
// Extract the missing entities instead where you can.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
//
// returns: deleted INTEGER
// mode: write
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $element_ids AND type(r) IN $layout.relation_types
  AND (@is(a, Entity) OR @is(b, Entity))
WITH r, [e IN [a, b] WHERE e.dangling = true AND @is(e, Entity)] AS made
DELETE r
WITH count(*) AS deleted, collect(made) AS lists
CALL (lists) {
  UNWIND lists AS list
  UNWIND list AS e
  WITH DISTINCT e WHERE NOT EXISTS { MATCH (e)-[r]-() WHERE type(r) IN $layout.relation_types }
  DETACH DELETE e
}
RETURN deleted
