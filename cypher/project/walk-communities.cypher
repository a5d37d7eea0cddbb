// walk-communities: the Leiden community of every node of a projected graph (relations count alike, parallel ones each).
// Concurrency 1 and a seed: the same projected graph gives the same communities.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param seed => 0                -- INTEGER: random seed
//
// returns: nodes LIST OF INTEGER, groups LIST OF INTEGER
// needs: gds.leiden.stream
// mode: read
CALL gds.leiden.stream($graph_name, {randomSeed: $seed, concurrency: 1, logProgress: false})
YIELD nodeId, communityId
RETURN collect(nodeId) AS nodes, collect(communityId) AS groups
