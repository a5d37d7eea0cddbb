// label-use: how many nodes carry a label.
//
// :param label => 'novels'                           -- STRING: the label
//
// returns: nodes INTEGER
// mode: read
MATCH (n) WHERE $label IN labels(n)
RETURN count(n) AS nodes
