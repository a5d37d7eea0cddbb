// repeated-key: how many nodes have a property that is called like a key, and how many of its values stand more than once.
//
// :param suspects => [{label: 'Section', key: 'id'}] -- LIST OF MAP: labels and properties
//
// returns: owner STRING, key STRING, nodes INTEGER, values INTEGER, repeated INTEGER, example STRING, times INTEGER
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
UNWIND [s IN $suspects WHERE s.label IN labels(n)] AS s
WITH s.label AS owner, s.key AS key, n[s.key] AS value
WHERE value IS NOT NULL
WITH owner, key, value, count(*) AS times
ORDER BY times DESC, toStringOrNull(value)
WITH owner, key, sum(times) AS nodes, count(*) AS values, sum(CASE WHEN times > 1 THEN 1 ELSE 0 END) AS repeated,
     head(collect({value: value, times: times})) AS first
RETURN owner, key, nodes, values, repeated, left(toStringOrNull(first.value), 60) AS example, first.times AS times
ORDER BY owner, key
