// simple-graph: projects the simple entity graph into GDS: undirected, one relation a pair, no self-loops, isolated entities kept.
// To be pasted before a query that runs on a projected graph; kgeval itself projects the relations as they are, natively or by raw-graph, and has GDS make the simple graph of them, which is faster.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
//
// returns: nodes INTEGER, relationships INTEGER
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
WITH DISTINCT CASE WHEN t IS NULL OR elementId(s) < elementId(t) THEN s ELSE t END AS a,
     CASE WHEN t IS NULL OR elementId(s) < elementId(t) THEN t ELSE s END AS b
WITH gds.graph.project($graph_name, a, b, {relationshipType: 'SIMPLE'}, {undirectedRelationshipTypes: ['*']}) AS g
RETURN g.nodeCount AS nodes, g.relationshipCount AS relationships
