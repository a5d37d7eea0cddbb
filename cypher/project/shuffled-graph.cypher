// shuffled-graph: projects the simple graph once more, its edges in another (seeded) order.
// Louvain takes no seed; what it finds depends on the order of nodes, so a shuffled copy shows how stable it is.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param copy => 'mine_1'         -- STRING: name of the shuffled copy
// :param a => 7919                -- INTEGER: first number of the shuffle
// :param b => 104729              -- INTEGER: second number of the shuffle
//
// returns: nodes INTEGER, relationships INTEGER
// needs: gds.graph.relationships.stream, gds.graph.project
// mode: read
CALL gds.graph.relationships.stream($graph_name, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WITH sourceNodeId AS s, targetNodeId AS t
WHERE s < t
WITH s, t ORDER BY (s * $a + t * $b) % 2147483647, s, t
WITH gds.graph.project($copy, s, t, {relationshipType: 'SIMPLE'}, {undirectedRelationshipTypes: ['*']}) AS g
RETURN g.nodeCount AS nodes, g.relationshipCount AS relationships
