// used-labels: the labels that nodes of this database carry.
// db.labels() also lists a label that only an index or a constraint names.
//
// returns: label STRING
// mode: read
CALL db.labels() YIELD label
WHERE EXISTS { MATCH (n:$(label)) }
RETURN label
ORDER BY label
