// cross-community-relations: how many edges of the simple graph join two communities.
// Not asked of the client, so that one number travels and not every edge.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param property => 'community'  -- STRING: the node property that holds the communities
//
// returns: crossing INTEGER
// needs: gds.graph.relationships.stream, gds.util.nodeProperty
// mode: read
CALL gds.graph.relationships.stream($graph_name, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WITH sourceNodeId AS s, targetNodeId AS t
WHERE s < t
RETURN sum(CASE WHEN gds.util.nodeProperty($graph_name, s, $property) <> gds.util.nodeProperty($graph_name, t, $property) THEN 1 ELSE 0 END) AS crossing
