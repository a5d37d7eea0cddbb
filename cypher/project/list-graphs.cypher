// list-graphs: names of all projected graphs.
// Not asked of the client, which takes a second to load: every connection looks for what killed runs left behind.
//
// returns: graph STRING
// needs: gds.graph.list
// mode: read
CALL gds.graph.list()
YIELD graphName
RETURN graphName AS graph
