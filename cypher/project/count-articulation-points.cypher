// count-articulation-points: how many nodes of the simple graph are articulation points: without one of them, a component falls apart.
// Called here, not through the client, which takes seconds to load.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: points INTEGER
// needs: gds.articulationPoints.stats
// mode: read
CALL gds.articulationPoints.stats($graph_name, {relationshipTypes: ['SIMPLE'], logProgress: false})
YIELD articulationPointCount
RETURN articulationPointCount AS points
