// delete-self-loops: deletes all relations of an entity to itself.
// They tell nothing that a walk over the graph could use.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
//
// returns: deleted INTEGER
// mode: write
MATCH (e)-[r]->(e)
WHERE @is(r, Relation)
DELETE r
RETURN count(*) AS deleted
