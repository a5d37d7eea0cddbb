// pair-directed: projects edges given as three lists into GDS, directed, with a cost each.
// Nothing of the database is read: numbers stand for nodes.
// The lists stand in a map: a server plans a query anew for lists of another length.
//
// :param graph_name => 'mine'                                            -- STRING: name of the projected graph; drop it with gds.graph.drop
// :param edges => {sources: [0, 1], targets: [1, 2], values: [0.1, 0.3]} -- MAP: the ends of each edge, INTEGER, and its cost, FLOAT
//
// returns: nodes INTEGER, relationships INTEGER
// needs: gds.graph.project
// mode: read
UNWIND range(0, size($edges.sources) - 1) AS i
WITH gds.graph.project($graph_name, $edges.sources[i], $edges.targets[i], {relationshipProperties: {cost: $edges.values[i]}}) AS g
RETURN g.nodeCount AS nodes, g.relationshipCount AS relationships
