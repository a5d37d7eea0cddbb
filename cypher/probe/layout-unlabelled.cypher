// layout-unlabelled: nodes without any label.
//
// returns: count INTEGER
// mode: read
MATCH (n)
WHERE size(labels(n)) = 0
RETURN count(n) AS count
