// drop-raw: drops the relations RAW of a projected graph, of which the simple ones are made already.
// Not asked of the client: it looks first whether they are there, by a listing for which GDS counts the degrees of all nodes.
//
// :param graph_name => 'mine'     -- STRING: a projected graph with relations RAW
//
// returns: deleted INTEGER
// needs: gds.graph.relationships.drop
// mode: read
CALL gds.graph.relationships.drop($graph_name, 'RAW')
YIELD deletedRelationships
RETURN deletedRelationships AS deleted
