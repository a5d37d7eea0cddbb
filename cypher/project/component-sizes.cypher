// component-sizes: how many weakly connected components there are of each size.
// The procedure is called here, not through the client, so that one row a size travels and not one row an entity.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param types => ['SIMPLE']      -- LIST OF STRING: relation types of the projection
//
// returns: size INTEGER, components INTEGER
// needs: gds.wcc.stream
// mode: read
CALL gds.wcc.stream($graph_name, {relationshipTypes: $types})
YIELD componentId
WITH componentId, count(*) AS size
RETURN size, count(*) AS components
ORDER BY size
