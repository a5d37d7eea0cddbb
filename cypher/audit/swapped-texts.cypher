// swapped-texts: how many nodes have two texts that are swapped: the first stands elsewhere in the other property, and the other one in
// the first one's. `firsts`, `lasts`: texts that belong into the first property, and into the last one.
//
// :param pairs => [{label: 'Donor', first: 'city', last: 'province', firsts: ['verona'], lasts: ['vr']}] -- LIST OF MAP: two properties of a label
// :param sample => 5                                                                          -- INTEGER: examples to return
//
// returns: at INTEGER, hits INTEGER, sample LIST OF MAP
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(p IN $pairs WHERE p.label = l))
WITH n, labels(n) AS known
UNWIND [i IN range(0, size($pairs) - 1) WHERE $pairs[i].label IN known] AS at
WITH at, n, n[$pairs[at].first] AS first, n[$pairs[at].last] AS last
WHERE first IS :: STRING NOT NULL AND last IS :: STRING NOT NULL
  AND toLower(trim(left(first, 60))) IN $pairs[at].lasts AND toLower(trim(left(last, 60))) IN $pairs[at].firsts
WITH at, $pairs[at] AS p, collect({n: n, first: left(first, 40), last: left(last, 40)}) AS hits
RETURN at, size(hits) AS hits, COLLECT {
  UNWIND hits[0..1000] AS hit
  WITH hit.n AS n, hit.first AS first, hit.last AS last
  WITH n, first, last, left(@display(n), 200) AS name
  ORDER BY name, elementId(n)
  LIMIT $sample
  RETURN {items: [{element_id: elementId(n), key: name, name: name, type: @type(n), kind: 'entity'}],
    why: p.first + ' ' + first + ', ' + p.last + ' ' + last + ': elsewhere each stands in the other one'}
} AS sample
ORDER BY at
