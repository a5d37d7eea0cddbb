// drop-graph: drops a projected graph; fine if there is none of this name.
// Called here, not through the client, so that the client's time limit neither hinders the clean-up nor is lifted by it.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: graph STRING
// needs: gds.graph.drop
// mode: read
CALL gds.graph.drop($graph_name, false)
YIELD graphName
RETURN graphName AS graph
