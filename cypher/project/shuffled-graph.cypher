// shuffled-graph: projects the simple graph once more, its nodes in another (seeded) order; nodes without an edge are left out.
// Louvain takes no seed; what it finds depends on the order of nodes, so a shuffled copy shows how stable it is. The order is the one in
// which edges drawn by lot would name the nodes first: of n numbers drawn from 0 to 1 the least is 1 - u^(1/n), so that a node with n edges
// stands at -log(u) / n. Sorting the edges themselves takes five times as long.
//
// :param graph_name => 'mine_1'   -- STRING: name of the shuffled copy
// :param source => 'mine'         -- STRING: a projected graph
// :param a => 7919                -- INTEGER: first number of the shuffle
// :param b => 104729              -- INTEGER: second number of the shuffle
//
// returns: g MAP
// needs: gds.degree.stream, gds.graph.relationships.stream, gds.graph.project
// mode: read
CALL () {
  CALL gds.degree.stream($source, {relationshipTypes: ['SIMPLE'], logProgress: false})
  YIELD nodeId, score
  WHERE score > 0
  WITH nodeId, score, (nodeId * $a + $b) % 2147483647 AS x
  WITH nodeId, score, (x * x % 2147483647 + 1) / 2147483648.0 AS u
  WITH nodeId ORDER BY log(u) / score DESC, nodeId
  RETURN nodeId AS s, null AS t
  UNION ALL
  CALL gds.graph.relationships.stream($source, ['SIMPLE'])
  YIELD sourceNodeId, targetNodeId
  WITH sourceNodeId AS s, targetNodeId AS t
  WHERE s < t
  RETURN s, t
}
RETURN gds.graph.project($graph_name, s, t, {relationshipType: 'SIMPLE'}, {undirectedRelationshipTypes: ['*']}) AS g
