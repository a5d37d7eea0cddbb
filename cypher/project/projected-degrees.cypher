// projected-degrees: how many nodes of a projected graph have each degree; parallel relations count each.
// Not asked of the client, so that one row a degree travels and not one row an entity.
//
// :param graph_name => 'mine'      -- STRING: a projected graph
// :param orientation => 'NATURAL'  -- STRING: UNDIRECTED where relations are projected with a direction and both ends count
//
// returns: degree INTEGER, entities INTEGER
// needs: gds.degree.stream
// mode: read
CALL gds.degree.stream($graph_name, {orientation: $orientation, logProgress: false})
YIELD score
RETURN toInteger(score) AS degree, count(*) AS entities
ORDER BY degree
