// simple-graph: projects the simple entity graph into GDS: undirected, one relation a pair, no self-loops, isolated entities kept.
// To be pasted before a query that runs on a projected graph; kgeval itself projects the relations as they are, natively or by raw-graph, and has GDS make the simple graph of them, which is faster.
//
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
//
// returns: nodes INTEGER, relationships INTEGER
// needs: gds.graph.project
// mode: read
MATCH (s:@Entity)
OPTIONAL MATCH (s)-[r:@RELATION]->(t)
WHERE s <> t
  AND @is(t, Endpoint)
WITH DISTINCT CASE WHEN t IS NULL OR elementId(s) < elementId(t) THEN s ELSE t END AS a,
     CASE WHEN t IS NULL OR elementId(s) < elementId(t) THEN t ELSE s END AS b
WITH gds.graph.project($graph_name, a, b, {relationshipType: 'SIMPLE'}, {undirectedRelationshipTypes: ['*']}) AS g
RETURN g.nodeCount AS nodes, g.relationshipCount AS relationships
