// walk-native: projects entities and relations into GDS from plain labels, undirected, for random walks; one thread, so that it is alike each time.
//
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
// :param nodes => ['__Entity__']  -- LIST OF STRING: entity labels
//
// returns: nodes INTEGER, relationships INTEGER
// needs: gds.graph.project
// mode: read
CALL gds.graph.project($graph_name, $nodes, {ALL: {type: '*', orientation: 'UNDIRECTED'}}, {readConcurrency: 1})
YIELD nodeCount, relationshipCount
RETURN nodeCount AS nodes, relationshipCount AS relationships
