// layout-together: nodes that carry all of several labels.
//
// :param labels => ['__Node__', '__Entity__']     -- LIST OF STRING: the labels
//
// returns: count INTEGER
// mode: read
MATCH (n)
WHERE all(l IN $labels WHERE l IN labels(n))
RETURN count(n) AS count
