// used-labels: the labels that nodes of this database carry.
//
// returns: label STRING
// mode: read
CALL db.labels() YIELD label
RETURN label
ORDER BY label
