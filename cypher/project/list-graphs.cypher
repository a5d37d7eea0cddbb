// list-graphs: names of all projected graphs.
// Called here, not through the client, which takes seconds to load.
//
// returns: graph STRING
// needs: gds.graph.list
// mode: read
CALL gds.graph.list()
YIELD graphName
RETURN graphName AS graph
