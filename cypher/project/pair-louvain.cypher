// pair-louvain: the Louvain communities of one graph. Concurrency 1: the same graph gives the same communities.
// Not asked of the client, so that two lists travel and not a row a node.
//
// :param graph_name => 'mine'     -- STRING: a graph projected by pair-graph
//
// returns: nodes LIST OF INTEGER, communities LIST OF INTEGER
// needs: gds.louvain.stream
// mode: read
CALL gds.louvain.stream($graph_name, {relationshipWeightProperty: 'value', tolerance: 1e-9, maxLevels: 20, concurrency: 1, logProgress: false})
YIELD nodeId, communityId
RETURN collect(nodeId) AS nodes, collect(communityId) AS communities
