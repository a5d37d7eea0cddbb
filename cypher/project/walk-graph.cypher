// walk-graph: projects named entities and all relations between two of them into GDS, undirected, for random walks; self-loops are left out.
// In the order of names, so that a rebuilt graph is projected, and walked, alike; without an order where the graph is large.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
// :param ordered => true          -- BOOLEAN: in the order of names and keys
//
// returns: g MAP
// needs: gds.graph.project
// mode: read
MATCH (s)
WHERE any(l IN labels(s) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(s) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(s))
  AND ($layout.scope_property IS NULL OR s[$layout.scope_property] = $layout.scope_value)
  AND trim(coalesce(@shown(s), '')) <> ''
MATCH (s)-[r]->(t)
WHERE type(r) IN $layout.relation_types AND s <> t
    AND trim(coalesce(@shown(t), '')) <> ''
    AND ($layout.relations_join_entities_only OR (
      any(l IN labels(t) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(t) WHERE l IN $layout.entity_excluded_labels)))
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(t))
    AND ($layout.scope_property IS NULL OR t[$layout.scope_property] = $layout.scope_value)
WITH s, t,
     CASE WHEN $ordered THEN left(@shown(s), 300) END AS s_name, CASE WHEN $ordered THEN left(@type(s), 200) END AS s_type,
     CASE WHEN $ordered THEN left(toStringOrNull(s[$layout.key_property]), 300) END AS s_key,
     CASE WHEN $ordered THEN left(@shown(t), 300) END AS t_name, CASE WHEN $ordered THEN left(@type(t), 200) END AS t_type,
     CASE WHEN $ordered THEN left(toStringOrNull(t[$layout.key_property]), 300) END AS t_key
ORDER BY s_name, s_type, s_key, t_name, t_type, t_key
RETURN gds.graph.project($graph_name, s, t, {relationshipType: 'ALL'}, {undirectedRelationshipTypes: ['*']}) AS g
