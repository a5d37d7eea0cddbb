// cross-community-relations: how many edges of the simple graph join two communities.
// The procedure is called here, not through the client, so that two numbers travel and not every edge.
//
// :param graph_name => 'mine'     -- STRING: a projected graph with the node property community
//
// returns: crossing INTEGER, edges INTEGER
// needs: gds.graph.relationships.stream, gds.util.nodeProperty
// mode: read
CALL gds.graph.relationships.stream($graph_name, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WITH sourceNodeId AS s, targetNodeId AS t
WHERE s < t
RETURN sum(CASE WHEN gds.util.nodeProperty($graph_name, s, 'community') <> gds.util.nodeProperty($graph_name, t, 'community') THEN 1 ELSE 0 END) AS crossing,
       count(*) AS edges
