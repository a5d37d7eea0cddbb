// store-louvain: finds the Louvain communities of the simple graph and keeps each node's as the property community of the projection.
// Concurrency 1: the same projected graph gives the same communities.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: modularity FLOAT
// needs: gds.louvain.mutate
// mode: read
CALL gds.louvain.mutate($graph_name, {relationshipTypes: ['SIMPLE'], mutateProperty: 'community', concurrency: 1, logProgress: false})
YIELD modularity
RETURN modularity
