// number-rows: the numbers of a sample of nodes, and of their relations and what stands at the other end. A node is picked by its id, the
// same ones for a seed. Short texts are told as they are: a fraction, or digits.
//
// :param centres => [{label: 'Order', share: 1.0, keys: ['total'], types: ['HAS'], links: [{at: 0, type: 'HAS', out: true, other: 'Item', keys: ['quantity'], other_keys: ['price']}]}] -- LIST OF MAP: labels, the share of their nodes to pick, and their relations
// :param seed => 0                                                             -- INTEGER: seed that picks them
// :param most => 40                                                            -- INTEGER: relations told of each node
//
// returns: at INTEGER, values LIST, relations LIST
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(c IN $centres WHERE c.label = l))
WITH n, labels(n) AS known
UNWIND [i IN range(0, size($centres) - 1) WHERE $centres[i].label IN known] AS at
WITH n, at, $centres[at] AS c
WHERE c.share >= 1
  OR ((toInteger(last(split(elementId(n), ':'))) % 1000003) * 618037 + $seed * 104729) % 1000003 < c.share * 1000003
RETURN at,
  [k IN c.keys | CASE WHEN n[k] IS :: INTEGER OR n[k] IS :: FLOAT THEN n[k] WHEN n[k] IS :: STRING THEN left(n[k], 24) END] AS values,
  COLLECT {
    MATCH (n)-[r]-(o)
    WHERE o <> n AND type(r) IN c.types
    WITH r, o, startNode(r) = n AS out
    LIMIT $most
    UNWIND [l IN c.links WHERE l.type = type(r) AND l.out = out AND l.other IN labels(o)] AS l
    RETURN [l.at, out,
      [k IN l.keys | CASE WHEN r[k] IS :: INTEGER OR r[k] IS :: FLOAT THEN r[k] WHEN r[k] IS :: STRING THEN left(r[k], 24) END],
      [k IN l.other_keys | CASE WHEN o[k] IS :: INTEGER OR o[k] IS :: FLOAT THEN o[k] WHEN o[k] IS :: STRING THEN left(o[k], 24) END]]
  } AS relations
