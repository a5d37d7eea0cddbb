// hops-between: length in hops of a shortest path between two nodes of a projected graph.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param node => 0                -- INTEGER: internal id of the start
// :param end => 1                 -- INTEGER: internal id of the end
//
// returns: hops FLOAT
// needs: gds.shortestPath.dijkstra.stream
// mode: read
CALL gds.shortestPath.dijkstra.stream($graph_name, {sourceNode: $node, targetNodes: [$end], relationshipTypes: ['SIMPLE']})
YIELD totalCost
RETURN totalCost AS hops
