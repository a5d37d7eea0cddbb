// raw-degrees: how many nodes of a projected RAW graph have each degree, over both directions; parallel relations count each.
//
// :param graph_name => 'mine'     -- STRING: a graph projected by native-graph
//
// returns: degree INTEGER, entities INTEGER
// needs: gds.degree.stream
// mode: read
CALL gds.degree.stream($graph_name, {relationshipTypes: ['RAW'], orientation: 'UNDIRECTED', logProgress: false})
YIELD score
RETURN toInteger(score) AS degree, count(*) AS entities
ORDER BY degree
