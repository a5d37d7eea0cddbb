// repeated-key: how many nodes have a property that may be a key, how many of its values stand more than once, the first of these with some
// of their nodes (what they hold, where they are shown by one name), and some values, whose shape the step in Python judges where the
// property's name says nothing.
//
// :param suspects => [{label: 'Section', key: 'id'}] -- LIST OF MAP: labels and properties
// :param shown => 5                                  -- INTEGER: values that stand more than once, at most
//
// returns: owner STRING, key STRING, nodes INTEGER, values INTEGER, repeated INTEGER, repeats LIST OF MAP, some LIST OF STRING
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
WITH owner, key, nodes, values, repeated, [one IN every[0..$shown] WHERE one.times > 1] AS first,
     [at IN range(0, size(every) - 1, 1 + size(every) / 100) | left(toStringOrNull(every[at].value), 60)] AS some
RETURN owner, key, nodes, values, repeated, COLLECT {
  UNWIND first AS one
  CALL (one, key) {
    UNWIND one.nodes AS n
    WITH n, left(@display(n), 60) AS name, key
    RETURN collect({name: name, id: elementId(n), held: [k IN keys(n)[0..40] WHERE k <> key AND NOT valueType(n[k]) STARTS WITH 'LIST' |
      [k, left(toStringOrNull(n[k]), 40)]]}) AS of
  }
  RETURN {value: left(toStringOrNull(one.value), 60), times: one.times, of: of}
} AS repeats, some
ORDER BY owner, key
