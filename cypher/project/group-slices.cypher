// group-slices: a whole number (component, community, degree) of every node of a projected graph, kept as a property before, as pairs of lists: a hundred slices, so that neither side holds a million numbers at once.
// Not asked of the client: over Bolt it makes a Python object of each number.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param property => 'community'  -- STRING: the property that holds the numbers
//
// returns: nodes LIST OF INTEGER, groups LIST OF INTEGER, slice INTEGER
// needs: gds.graph.nodeProperty.stream
// mode: read
CALL gds.graph.nodeProperty.stream($graph_name, $property)
YIELD nodeId, propertyValue
RETURN collect(nodeId) AS nodes, collect(toInteger(propertyValue)) AS groups, nodeId % 100 AS slice
