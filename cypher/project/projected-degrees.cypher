// projected-degrees: how many nodes of a projected graph have each degree.
// The procedure is called here, not through the client, so that one row a degree travels and not one row an entity.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param types => ['SIMPLE']      -- LIST OF STRING: relation types of the projection
//
// returns: degree INTEGER, entities INTEGER
// needs: gds.degree.stream
// mode: read
CALL gds.degree.stream($graph_name, {relationshipTypes: $types})
YIELD score
RETURN toInteger(score) AS degree, count(*) AS entities
ORDER BY degree
