// cross-community-relations: how many edges of the simple graph join two communities, in all and between those that are named.
// Not asked of the client, so that a few numbers travel and not every edge. The others are one group, so that there are never more than a
// few hundred pairs to count.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param property => 'community'  -- STRING: the node property that holds the communities
// :param among => [1, 2]          -- LIST OF INTEGER: some tens of communities, no more
//
// returns: crossing INTEGER, pairs LIST OF LIST
// needs: gds.graph.relationships.stream, gds.util.nodeProperty
// mode: read
CALL gds.graph.relationships.stream($graph_name, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WITH sourceNodeId AS s, targetNodeId AS t
WHERE s < t
WITH gds.util.nodeProperty($graph_name, s, $property) AS a, gds.util.nodeProperty($graph_name, t, $property) AS b
WHERE a <> b
WITH CASE WHEN a IN $among AND b IN $among THEN [CASE WHEN a < b THEN a ELSE b END, CASE WHEN a < b THEN b ELSE a END] END AS pair,
     count(*) AS edges
RETURN sum(edges) AS crossing, collect(CASE WHEN pair IS NOT NULL THEN pair + edges END) AS pairs
