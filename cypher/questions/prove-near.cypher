// prove-near: whether two entities are joined by one relation or by two, in either direction, for many pairs at once.
// Cheaper than prove-hops where that is all that must be known.
//
// :param rows => [{n: 0, start: '4:x:1', end: '4:x:2', below: 3}] -- LIST OF MAP: pairs of different entities; `below`: hops that are enough
//
// returns: n INTEGER, hops INTEGER
// mode: read
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.start
MATCH (b) WHERE elementId(b) = row.end AND a <> b
WITH row, a, b, EXISTS { MATCH (a)-[r:@RELATION]-(b) } AS joined
WITH row, CASE WHEN joined THEN 1 WHEN row.below > 2 AND EXISTS {
  MATCH (a)-[r:@RELATION]-(o)-[q:@RELATION]-(b)
  WHERE @is(o, Entity)
} THEN 2 END AS hops
WHERE hops IS NOT NULL
RETURN row.n AS n, hops
