// average-clustering: the mean local clustering coefficient over all nodes of the simple graph; degree below 2 counts as 0.
// Called here, not through the client, which takes seconds to load.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: average FLOAT
// needs: gds.localClusteringCoefficient.stats
// mode: read
CALL gds.localClusteringCoefficient.stats($graph_name, {relationshipTypes: ['SIMPLE'], logProgress: false})
YIELD averageClusteringCoefficient
RETURN averageClusteringCoefficient AS average
