// profile-label-sets: the sets of labels that nodes carry, and how many nodes carry each.
// What kgeval wrote for itself (marks of its graphs, pairs to be looked at) is no part of a graph.
//
// :param most => 5000               -- INTEGER: sets that are told, the largest first
//
// returns: labels LIST OF STRING, nodes INTEGER
// mode: read
MATCH (n:@Node)
WITH labels(n) AS labels, count(*) AS nodes
WHERE none(l IN labels WHERE l STARTS WITH 'KgevalPair' OR l STARTS WITH '__Kgeval')
RETURN labels, nodes
ORDER BY nodes DESC, labels
LIMIT $most
