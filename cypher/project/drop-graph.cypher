// drop-graph: drops a projected graph; fine if there is none of this name.
// Not asked of the client: a clean-up has no time limit, and an interrupt must leave it alone.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: graph STRING
// needs: gds.graph.drop
// mode: read
CALL gds.graph.drop($graph_name, false)
YIELD graphName
RETURN graphName AS graph
