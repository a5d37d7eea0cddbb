// giant-component: the largest component of a projected graph: its id, its size and one of its nodes.
//
// :param graph_name => 'mine'     -- STRING: a projected graph with the node property component
//
// returns: component INTEGER, size INTEGER, node INTEGER
// needs: gds.graph.nodeProperty.stream
// mode: read
CALL gds.graph.nodeProperty.stream($graph_name, 'component')
YIELD nodeId, propertyValue
RETURN propertyValue AS component, count(*) AS size, min(nodeId) AS node
ORDER BY size DESC, component
LIMIT 1
