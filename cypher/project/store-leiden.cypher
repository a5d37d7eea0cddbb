// store-leiden: finds the Leiden communities of the simple graph and keeps each node's as the property community of the projection.
// Concurrency 1 and a seed: the same projected graph gives the same communities.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param seed => 0                -- INTEGER: random seed
//
// returns: modularity FLOAT
// needs: gds.leiden.mutate
// mode: read
CALL gds.leiden.mutate($graph_name, {relationshipTypes: ['SIMPLE'], mutateProperty: 'community', randomSeed: $seed, concurrency: 1, logProgress: false})
YIELD modularity
RETURN modularity
