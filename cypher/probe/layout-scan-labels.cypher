// layout-scan-labels: nodes by label, by reading every node (where the count store cannot be asked).
//
// returns: label STRING, count INTEGER
// mode: read
MATCH (n)
UNWIND labels(n) AS label
RETURN label, count(*) AS count
