// pair-distances: the cost of the cheapest path from one node to every other that it reaches, as two lists.
// Not asked of the client, so that no node list of a path travels.
//
// :param graph_name => 'mine'     -- STRING: a graph projected by pair-graph
// :param source => 0              -- INTEGER: where all paths start
//
// returns: nodes LIST OF INTEGER, costs LIST OF FLOAT
// needs: gds.allShortestPaths.dijkstra.stream
// mode: read
CALL gds.allShortestPaths.dijkstra.stream($graph_name, {sourceNode: $source, relationshipWeightProperty: 'value', concurrency: 1, logProgress: false})
YIELD targetNode, totalCost
WHERE targetNode <> $source
RETURN collect(targetNode) AS nodes, collect(totalCost) AS costs
