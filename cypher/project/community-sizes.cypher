// community-sizes: the size of each community, largest first.
//
// :param graph_name => 'mine'     -- STRING: a projected graph with the node property community
//
// returns: community INTEGER, size INTEGER
// needs: gds.graph.nodeProperty.stream
// mode: read
CALL gds.graph.nodeProperty.stream($graph_name, 'community')
YIELD propertyValue
RETURN toInteger(propertyValue) AS community, count(*) AS size
ORDER BY size DESC, community
