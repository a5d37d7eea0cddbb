// prove-hops: the fewest relations between two entities, in either direction, for many pairs at once; no row where there are more than 12.
// Only entities of the layout are walked over.
//
// :param rows => [{n: 0, start: '4:x:1', end: '4:x:2'}] -- LIST OF MAP: pairs of different entities, by element id
//
// returns: n INTEGER, hops INTEGER
// mode: read
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.start
MATCH (b) WHERE elementId(b) = row.end AND a <> b
MATCH p = shortestPath((a)-[*..12]-(b))
WHERE all(r IN relationships(p) WHERE @is(r, RELATION))
  AND all(o IN nodes(p) WHERE @is(o, Entity))
RETURN row.n AS n, length(p) AS hops
