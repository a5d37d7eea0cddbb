// edge-slices: the edges of the simple graph, each once, as internal ids: pairs of lists in a thousand slices.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: sources LIST OF INTEGER, targets LIST OF INTEGER, slice INTEGER
// needs: gds.graph.relationships.stream
// mode: read
CALL gds.graph.relationships.stream($graph_name, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WHERE sourceNodeId < targetNodeId
RETURN collect(sourceNodeId) AS sources, collect(targetNodeId) AS targets, sourceNodeId % 1000 AS slice
