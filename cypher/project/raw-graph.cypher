// raw-graph: projects entities and every relation between two of them into GDS, directed, as RAW; self-loops left out, isolated entities kept.
// Used where the native projection does not fit the layout (scopes, self-loops, several graphs in one database).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
//
// returns: g MAP
// needs: gds.graph.project
// mode: read
MATCH (s)
WHERE any(l IN labels(s) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(s) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(s))
    AND ($layout.scope_property IS NULL OR s[$layout.scope_property] = $layout.scope_value)
OPTIONAL MATCH (s)-[r]->(t)
WHERE type(r) IN $layout.relation_types AND s <> t
  AND ($layout.relations_join_entities_only OR (
    any(l IN labels(t) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(t) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(t))
    AND ($layout.scope_property IS NULL OR t[$layout.scope_property] = $layout.scope_value)))
RETURN gds.graph.project($graph_name, s, t, {relationshipType: 'RAW'}) AS g
