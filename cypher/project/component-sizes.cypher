// component-sizes: how many weakly connected components there are of each size, and one of them: its id and its first node.
// The procedure is called here, not through the client, so that one row a size travels and not one row an entity.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param types => ['SIMPLE']      -- LIST OF STRING: relation types of the projection
//
// returns: size INTEGER, components INTEGER, component INTEGER, node INTEGER
// needs: gds.wcc.stream
// mode: read
CALL gds.wcc.stream($graph_name, {relationshipTypes: $types, logProgress: false})
YIELD nodeId, componentId
WITH componentId, count(*) AS size, min(nodeId) AS node
WITH size, count(*) AS components, min([componentId, node]) AS first
RETURN size, components, first[0] AS component, first[1] AS node
ORDER BY size
