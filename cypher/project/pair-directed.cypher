// pair-directed: projects edges given as three lists into GDS, directed, with a cost each.
// Nothing of the database is read: numbers stand for nodes.
//
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
// :param sources => [0, 1]        -- LIST OF INTEGER: start of each edge
// :param targets => [1, 2]        -- LIST OF INTEGER: end of each edge
// :param values => [0.1, 0.3]     -- LIST OF FLOAT: cost of each edge
//
// returns: nodes INTEGER, relationships INTEGER
// needs: gds.graph.project
// mode: read
UNWIND range(0, size($sources) - 1) AS i
WITH gds.graph.project($graph_name, $sources[i], $targets[i], {relationshipProperties: {cost: $values[i]}}) AS g
RETURN g.nodeCount AS nodes, g.relationshipCount AS relationships
