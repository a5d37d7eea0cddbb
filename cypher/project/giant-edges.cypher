// giant-edges: the edges of the largest component, each once, as internal ids.
//
// :param graph_name => 'mine'     -- STRING: a projected graph with the node property component
// :param component => 0           -- INTEGER: the component's id
//
// returns: source INTEGER, target INTEGER
// needs: gds.graph.relationships.stream, gds.util.nodeProperty
// mode: read
CALL gds.graph.relationships.stream($graph_name, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WITH sourceNodeId AS source, targetNodeId AS target
WHERE source < target AND gds.util.nodeProperty($graph_name, source, 'component') = $component
RETURN source, target
ORDER BY source, target
