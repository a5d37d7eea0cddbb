// repeated-key: how many nodes have a property that may be a key, how many of its values stand more than once, and some of them, whose
// shape the step in Python judges where the property's name says nothing.
//
// :param suspects => [{label: 'Section', key: 'id'}] -- LIST OF MAP: labels and properties
//
// returns: owner STRING, key STRING, nodes INTEGER, values INTEGER, repeated INTEGER, example STRING, times INTEGER, names LIST OF STRING, some LIST OF STRING
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
UNWIND [s IN $suspects WHERE s.label IN labels(n)] AS s
WITH s.label AS owner, s.key AS key, n, n[s.key] AS value
WHERE value IS NOT NULL
WITH owner, key, value, count(*) AS times, collect(n)[0..3] AS nodes_of
ORDER BY times DESC, toStringOrNull(value)
WITH owner, key, sum(times) AS nodes, count(*) AS values, sum(CASE WHEN times > 1 THEN 1 ELSE 0 END) AS repeated,
     collect({value: value, times: times, nodes: nodes_of}) AS every
WITH owner, key, nodes, values, repeated, head(every) AS first,
     [at IN range(0, size(every) - 1, 1 + size(every) / 100) | left(toStringOrNull(every[at].value), 60)] AS some
RETURN owner, key, nodes, values, repeated, left(toStringOrNull(first.value), 60) AS example, first.times AS times,
  [n IN first.nodes | left(@display(n), 60)] AS names, some
ORDER BY owner, key
