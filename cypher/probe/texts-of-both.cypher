// texts-of-both: of two properties of a label that hold texts, those texts that stand in both, and how often in each.
//
// :param pairs => [{label: 'Donor', first: 'city', last: 'province'}] -- LIST OF MAP: two properties of a label
// :param most => 500                                                  -- INTEGER: texts that are told of each pair
//
// returns: at INTEGER, rows INTEGER, both LIST OF LIST
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(p IN $pairs WHERE p.label = l))
WITH n, labels(n) AS known
UNWIND [i IN range(0, size($pairs) - 1) WHERE $pairs[i].label IN known] AS at
WITH at, n[$pairs[at].first] AS first, n[$pairs[at].last] AS last
WHERE first IS :: STRING NOT NULL AND last IS :: STRING NOT NULL
UNWIND [[toLower(trim(left(first, 60))), 1, 0], [toLower(trim(left(last, 60))), 0, 1]] AS side
WITH at, side[0] AS text, sum(side[1]) AS firsts, sum(side[2]) AS lasts
WITH at, sum(firsts) AS rows, collect(CASE WHEN firsts > 0 AND lasts > 0 THEN [text, firsts, lasts] END)[0..$most] AS both
RETURN at, rows, both
ORDER BY at
