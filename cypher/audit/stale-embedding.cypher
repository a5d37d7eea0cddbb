// stale-embedding: nodes whose text changed after they were embedded, by two properties that say so.
//
// :param compared => [{label: 'Chunk', now: 'updated_at', then: 'embedded_at', how: 'time'}] -- LIST OF MAP: of a label, what is and what was embedded; how: time or same
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(p IN $compared WHERE p.label = l))
WITH n, head([p IN $compared WHERE p.label IN labels(n)]) AS pair
WITH n, pair, n[pair.then] AS then, n[pair.now] AS now
WHERE then IS NOT NULL AND now IS NOT NULL
WITH n, pair, then, now, coalesce(CASE
  WHEN pair.how = 'same' THEN then <> now
  WHEN then IS :: ZONED DATETIME NOT NULL AND now IS :: ZONED DATETIME NOT NULL THEN now > then + duration({minutes: 1})
  WHEN then IS :: LOCAL DATETIME NOT NULL AND now IS :: LOCAL DATETIME NOT NULL THEN now > then + duration({minutes: 1})
  WHEN then IS :: DATE NOT NULL AND now IS :: DATE NOT NULL THEN now > then
  WHEN then IS :: INTEGER NOT NULL | FLOAT NOT NULL AND now IS :: INTEGER NOT NULL | FLOAT NOT NULL
    THEN now - then > CASE WHEN then > 100000000000 THEN 60000 ELSE 60 END
  WHEN then IS :: STRING NOT NULL AND now IS :: STRING NOT NULL THEN left(now, 16) > left(then, 16)
END, false) AS stale
WITH pair, count(*) AS nodes, collect(CASE WHEN stale THEN n END) AS stale
WHERE 2 * size(stale) <= nodes
WITH sum(nodes) AS total, sum(size(stale)) AS count, collect([n IN stale | {n: n, pair: pair}]) AS groups
WITH total, count, CASE count WHEN 0 THEN [[null]] ELSE groups END AS groups
UNWIND groups AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit.n AS n, hit.pair AS pair
WITH total, count, n, pair, left(coalesce(@shown(n), @id(n), elementId(n)), 200) AS name
ORDER BY pair.label, name, elementId(n) LIMIT $sample
RETURN count, total, collect(CASE WHEN n IS NOT NULL THEN {
  items: [{element_id: elementId(n), key: name, name: name, type: pair.label, kind: CASE WHEN @is(n, Chunk) THEN 'chunk' ELSE 'entity' END}],
  why: pair.then + ' is ' + left(toString(n[pair.then]), 60) + ', ' + pair.now + ' ' + left(toString(n[pair.now]), 60)} END) AS sample
