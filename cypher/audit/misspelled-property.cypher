// misspelled-property: how many nodes of a label have a property that looks like a slip for another one, that other one, or both.
//
// :param suspects => [{label: 'Part', key: 'clase', meant: 'clause'}] -- LIST OF MAP: a property, and the one that it may be meant for
//
// returns: owner STRING, key STRING, meant STRING, alone INTEGER, both INTEGER, others INTEGER
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
UNWIND [s IN $suspects WHERE s.label IN labels(n)] AS s
WITH s, n[s.key] IS NOT NULL AS here, n[s.meant] IS NOT NULL AS there
RETURN s.label AS owner, s.key AS key, s.meant AS meant,
  sum(CASE WHEN here AND NOT there THEN 1 ELSE 0 END) AS alone, sum(CASE WHEN here AND there THEN 1 ELSE 0 END) AS both,
  sum(CASE WHEN there AND NOT here THEN 1 ELSE 0 END) AS others
ORDER BY alone DESC, owner, key, meant
