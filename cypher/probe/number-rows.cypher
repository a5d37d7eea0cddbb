// number-rows: the numbers of a sample of nodes, and of their relations and what stands at the other end. A node is picked by its id, the
// same ones for a seed. Short texts are told as they are: a fraction, or digits.
//
// :param centres => [{label: 'Order', share: 1.0, keys: ['total'], links: [0]}] -- LIST OF MAP: labels, the share of their nodes to pick, and places in links
// :param links => [{type: 'HAS', start: 'Order', end: 'Item', start_keys: ['total'], keys: ['quantity'], end_keys: ['price']}] -- LIST OF MAP: relations of a type between two labels
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
    WHERE o <> n AND any(i IN c.links WHERE $links[i].type = type(r))
    WITH r, o, startNode(r) = n AS out
    LIMIT $most
    UNWIND [i IN c.links WHERE $links[i].type = type(r) AND (
      (out AND $links[i].start = c.label AND $links[i].end IN labels(o))
      OR (NOT out AND $links[i].end = c.label AND $links[i].start IN labels(o)))] AS i
    RETURN [i, out,
      [k IN $links[i].keys | CASE WHEN r[k] IS :: INTEGER OR r[k] IS :: FLOAT THEN r[k] WHEN r[k] IS :: STRING THEN left(r[k], 24) END],
      [k IN CASE WHEN out THEN $links[i].end_keys ELSE $links[i].start_keys END |
        CASE WHEN o[k] IS :: INTEGER OR o[k] IS :: FLOAT THEN o[k] WHEN o[k] IS :: STRING THEN left(o[k], 24) END]]
  } AS relations
