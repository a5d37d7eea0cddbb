// leiden-communities: the Leiden community of every node of the simple graph, as pairs of lists: a hundred slices, so that neither side holds a million numbers at once.
// Concurrency 1 and a seed: the same projected graph gives the same communities.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param seed => 0                -- INTEGER: random seed
//
// returns: nodes LIST OF INTEGER, groups LIST OF INTEGER, slice INTEGER
// needs: gds.leiden.stream
// mode: read
CALL gds.leiden.stream($graph_name, {relationshipTypes: ['SIMPLE'], randomSeed: $seed, concurrency: 1, logProgress: false})
YIELD nodeId, communityId
RETURN collect(nodeId) AS nodes, collect(communityId) AS groups, nodeId % 100 AS slice
