// shuffled-graph: projects the simple graph once more, its edges in another (seeded) order.
// Louvain takes no seed; what it finds depends on the order of nodes, so a shuffled copy shows how stable it is.
//
// :param graph_name => 'mine_1'   -- STRING: name of the shuffled copy
// :param source => 'mine'         -- STRING: a projected graph
// :param a => 7919                -- INTEGER: first number of the shuffle
// :param b => 104729              -- INTEGER: second number of the shuffle
//
// returns: g MAP
// needs: gds.graph.relationships.stream, gds.graph.project
// mode: read
CALL gds.graph.relationships.stream($source, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WITH sourceNodeId AS s, targetNodeId AS t
WHERE s < t
WITH s, t ORDER BY (s * $a + t * $b) % 2147483647, s, t
RETURN gds.graph.project($graph_name, s, t, {relationshipType: 'SIMPLE'}, {undirectedRelationshipTypes: ['*']}) AS g
