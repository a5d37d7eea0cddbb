// delete-parallel-relations: keeps the first of all relations that say the same of the same two entities at the same time.
// Descriptions, weights and sources of the others are lost.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
//
// returns: deleted INTEGER
// mode: write
MATCH (a)-[r]->(b)
WHERE a <> b
  AND @is(r, Relation)
WITH a, b, @label(r) AS label, [r[$layout.valid_from_key], r[$layout.valid_to_key], r[$layout.expired_key]] AS validity, r
ORDER BY elementId(r)
WITH a, b, label, validity, collect(r) AS same
UNWIND tail(same) AS r
DELETE r
RETURN count(*) AS deleted
