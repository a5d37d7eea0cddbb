// giant-edges: the edges of the component that one node is in, each once, as internal ids.
//
// :param graph_name => 'mine'     -- STRING: a projected graph with the node property component
// :param node => 0                -- INTEGER: internal id of a node of the component
//
// returns: source INTEGER, target INTEGER
// needs: gds.graph.relationships.stream, gds.util.nodeProperty
// mode: read
WITH gds.util.nodeProperty($graph_name, $node, 'component') AS component
CALL gds.graph.relationships.stream($graph_name, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WITH component, sourceNodeId AS source, targetNodeId AS target
WHERE source < target AND gds.util.nodeProperty($graph_name, source, 'component') = component
RETURN source, target
ORDER BY source, target
