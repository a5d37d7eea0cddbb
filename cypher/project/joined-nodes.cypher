// joined-nodes: all nodes of the simple graph that have an edge: their ids, and how many neighbours each has, in a hundred slices.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
//
// returns: ids LIST OF INTEGER, degrees LIST OF INTEGER, slice INTEGER
// needs: gds.degree.stream
// mode: read
CALL gds.degree.stream($graph_name, {relationshipTypes: ['SIMPLE'], logProgress: false})
YIELD nodeId, score
WHERE score > 0
RETURN collect(nodeId) AS ids, collect(toInteger(score)) AS degrees, nodeId % 100 AS slice
