// farthest-node: the last node that a breadth-first search from one node reaches: one of those farthest from it.
// Not asked of the client, so that one id travels and not the whole search.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param node => 0                -- INTEGER: internal id of the start
//
// returns: farthest INTEGER
// needs: gds.bfs.stream
// mode: read
CALL gds.bfs.stream($graph_name, {sourceNode: $node, relationshipTypes: ['SIMPLE'], concurrency: 1})
YIELD nodeIds
RETURN nodeIds[-1] AS farthest
