// layout-entity-labels: the sets of labels that entities carry, and how many entities carry each.
//
// returns: labels LIST OF STRING, count INTEGER
// mode: read
MATCH (e:@Entity)
RETURN labels(e) AS labels, count(*) AS count
