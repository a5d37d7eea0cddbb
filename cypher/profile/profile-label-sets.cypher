// profile-label-sets: the sets of labels that nodes carry, and how many nodes carry each.
//
// :param most => 5000               -- INTEGER: sets that are told, the largest first
//
// returns: labels LIST OF STRING, nodes INTEGER
// mode: read
MATCH (n:@Node)
RETURN labels(n) AS labels, count(*) AS nodes
ORDER BY nodes DESC, labels
LIMIT $most
