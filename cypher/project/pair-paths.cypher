// pair-paths: the cheapest path from one node to every other that it reaches, with the cost up to each of its nodes.
//
// :param graph_name => 'mine'     -- STRING: a graph projected by pair-graph
// :param source => 0              -- INTEGER: where all paths start
//
// returns: node INTEGER, nodes LIST OF INTEGER, costs LIST OF FLOAT
// needs: gds.allShortestPaths.dijkstra.stream
// mode: read
CALL gds.allShortestPaths.dijkstra.stream($graph_name, {sourceNode: $source, relationshipWeightProperty: 'value', concurrency: 1, logProgress: false})
YIELD targetNode, nodeIds, costs
RETURN targetNode AS node, nodeIds AS nodes, costs
