// raw-graph: projects entities and every relation between two of them into GDS, directed, as RAW; self-loops left out, isolated entities kept.
// Used where the native projection does not fit the layout (scopes, self-loops, several graphs in one database).
//
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
//
// returns: g MAP
// needs: gds.graph.project
// mode: read
MATCH (s:@Entity)
OPTIONAL MATCH (s)-[r:@RELATION]->(t)
WHERE s <> t
  AND @is(t, Endpoint)
RETURN gds.graph.project($graph_name, s, t, {relationshipType: 'RAW'}) AS g
