// stored-counts: how many nodes and relations the database holds, from its count store: at once, whatever the size.
//
// returns: nodes INTEGER, relations INTEGER
// mode: read
MATCH (n)
WITH count(n) AS nodes
OPTIONAL MATCH ()-[r]->()
RETURN nodes, count(r) AS relations
