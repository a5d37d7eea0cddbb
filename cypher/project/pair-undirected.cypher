// pair-undirected: projects edges given as three lists into GDS, undirected, with a weight each.
// Nothing of the database is read: numbers stand for nodes. Flat lists are packed and read twice as fast as a list of maps.
//
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
// :param sources => [0, 1]        -- LIST OF INTEGER: one end of each edge
// :param targets => [1, 2]        -- LIST OF INTEGER: the other end
// :param values => [0.5, 0.5]     -- LIST OF FLOAT: weight of each edge
//
// returns: nodes INTEGER, relationships INTEGER
// needs: gds.graph.project
// mode: read
UNWIND range(0, size($sources) - 1) AS i
WITH gds.graph.project($graph_name, $sources[i], $targets[i], {relationshipProperties: {weight: $values[i]}}, {undirectedRelationshipTypes: ['*']}) AS g
RETURN g.nodeCount AS nodes, g.relationshipCount AS relationships
