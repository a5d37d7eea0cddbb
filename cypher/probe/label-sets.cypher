// label-sets: the sets of type labels that entities carry, and how often.
//
// returns: labels LIST OF STRING, uses INTEGER
// mode: read
MATCH (e:@Entity)
WITH [l IN labels(e) WHERE NOT l IN @type_label_ignored] AS labels
WHERE labels <> []
RETURN labels, count(*) AS uses
