// count-bridges: how many edges of the simple graph are bridges: without one of them, a component falls apart.
// Runs on one edge a pair: GDS takes parallel relations for a cycle and would miss bridges.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: bridges INTEGER
// needs: gds.bridges.stream
// mode: read
CALL gds.bridges.stream($graph_name, {relationshipTypes: ['SIMPLE']})
YIELD from, to
RETURN count(*) AS bridges
