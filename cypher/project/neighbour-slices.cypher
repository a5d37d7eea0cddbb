// neighbour-slices: the neighbours of every node of the simple graph that has an edge, as internal ids, in a thousand slices: targets[i]
// are those of sources[i].
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: sources LIST OF INTEGER, targets LIST OF LIST, slice INTEGER
// needs: gds.graph.relationships.stream
// mode: read
CALL gds.graph.relationships.stream($graph_name, ['SIMPLE'])
YIELD sourceNodeId, targetNodeId
WITH sourceNodeId AS source, collect(targetNodeId) AS neighbours
RETURN collect(source) AS sources, collect(neighbours) AS targets, source % 1000 AS slice
