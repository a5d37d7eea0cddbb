// pair-leiden: the Leiden communities of disjoint graphs whose weights add up to 1 each.
// With gamma = number of graphs each graph's own modularity is optimised. Concurrency 1: the same graph gives the same communities.
// Not asked of the client, so that two lists travel and not a row a node.
//
// :param graph_name => 'mine'     -- STRING: a graph projected by pair-graph
// :param gamma => 2.0             -- FLOAT: number of graphs
// :param seed => 0                -- INTEGER: random seed
//
// returns: nodes LIST OF INTEGER, communities LIST OF INTEGER
// needs: gds.leiden.stream
// mode: read
CALL gds.leiden.stream($graph_name, {relationshipWeightProperty: 'value', gamma: $gamma, randomSeed: $seed, tolerance: 1e-9, maxLevels: 20, concurrency: 1, logProgress: false})
YIELD nodeId, communityId
RETURN collect(nodeId) AS nodes, collect(communityId) AS communities
