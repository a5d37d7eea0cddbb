// walk-graph: projects named entities and all relations between two of them into GDS, undirected, for random walks; self-loops are left out.
// In the order of names, so that a rebuilt graph is projected, and walked, alike; without an order where the graph is large.
//
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
// :param ordered => true          -- BOOLEAN: in the order of names and keys
//
// returns: g MAP
// needs: gds.graph.project
// mode: read
MATCH (s:@Entity)
WHERE trim(coalesce(@shown(s), '')) <> ''
MATCH (s)-[r:@RELATION]->(t)
WHERE s <> t
    AND trim(coalesce(@shown(t), '')) <> ''
    AND @is(t, Endpoint)
WITH s, t,
     CASE WHEN $ordered THEN left(@shown(s), 300) END AS s_name, CASE WHEN $ordered THEN left(@type(s), 200) END AS s_type,
     CASE WHEN $ordered THEN left(@key(s), 300) END AS s_key,
     CASE WHEN $ordered THEN left(@shown(t), 300) END AS t_name, CASE WHEN $ordered THEN left(@type(t), 200) END AS t_type,
     CASE WHEN $ordered THEN left(@key(t), 300) END AS t_key
ORDER BY s_name, s_type, s_key, t_name, t_type, t_key
RETURN gds.graph.project($graph_name, s, t, {relationshipType: 'ALL'}, {undirectedRelationshipTypes: ['*']}) AS g
