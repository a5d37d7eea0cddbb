// pair-graph: projects edges given as three lists into GDS, with a value each: a cost for paths, a weight for communities.
// Nothing of the database is read: numbers stand for nodes. Flat lists are packed and read twice as fast as a list of maps.
// The lists stand in a map: a server plans a query anew for lists of another length.
//
// :param graph_name => 'mine'                                            -- STRING: name of the projected graph; drop it with gds.graph.drop
// :param edges => {sources: [0, 1], targets: [1, 2], values: [0.5, 0.5]} -- MAP: the ends of each edge, INTEGER, and its value, FLOAT
// :param undirected => ['*']                                             -- LIST OF STRING: ['*'] for undirected edges, [] for directed ones
//
// returns: g MAP
// needs: gds.graph.project
// mode: read
UNWIND range(0, size($edges.sources) - 1) AS i
RETURN gds.graph.project($graph_name, $edges.sources[i], $edges.targets[i], {relationshipProperties: {value: $edges.values[i]}}, {undirectedRelationshipTypes: $undirected}) AS g
