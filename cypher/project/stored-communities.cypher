// stored-communities: the community of every node of a projected graph, found before, as pairs of lists: a hundred slices, so that neither side holds a million numbers at once.
// Called here, not through the client, so that a hundred rows travel and not a row a node.
//
// :param graph_name => 'mine'     -- STRING: a projected graph with the node property community
//
// returns: nodes LIST OF INTEGER, groups LIST OF INTEGER, slice INTEGER
// needs: gds.graph.nodeProperty.stream
// mode: read
CALL gds.graph.nodeProperty.stream($graph_name, 'community')
YIELD nodeId, propertyValue
RETURN collect(nodeId) AS nodes, collect(propertyValue) AS groups, nodeId % 100 AS slice
