// bridge-only-access: the edges of a projected graph, as lists of neighbours, to find the parts that hang on one entity.
// The audit finds in them the entities whose removal cuts off a part of the graph, with the size of that part.
//
// :param graph_name => 'mine'     -- STRING: a projected graph (see simple-graph)
//
// returns: id INTEGER, neighbours LIST OF INTEGER
// needs: gds.graph.relationships.stream
// mode: read
CALL gds.graph.relationships.stream($graph_name, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WITH sourceNodeId AS id, targetNodeId AS other
WHERE id <> other
RETURN id, collect(DISTINCT other) AS neighbours
ORDER BY id
