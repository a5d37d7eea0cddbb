// walk-components: the weakly connected component of every node of a projected graph.
// Called here, not through the client, so that two lists travel and not a row a node.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: nodes LIST OF INTEGER, groups LIST OF INTEGER
// needs: gds.wcc.stream
// mode: read
CALL gds.wcc.stream($graph_name, {concurrency: 1, logProgress: false})
YIELD nodeId, componentId
RETURN collect(nodeId) AS nodes, collect(componentId) AS groups
