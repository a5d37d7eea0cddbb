// inverse-duplicate: pairs of entities joined in both directions by the same relation.
// A -[X]-> B and B -[X]-> A. Where all relations have one label, any two opposite relations are such a pair. Total: joined pairs.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param any_label => false             -- BOOLEAN: true also counts opposite relations with different labels
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Entity)
CALL (a) {
  MATCH (a)-[r:@RELATION]-(b)
  WHERE @is(b, Endpoint)
    AND elementId(a) < elementId(b)
  WITH b, r, CASE WHEN $any_label THEN '' ELSE @label(r) END AS label,
    startNode(r) = a AS forward
  WITH b, label, sum(CASE WHEN forward THEN 1 ELSE 0 END) AS there, sum(CASE WHEN forward THEN 0 ELSE 1 END) AS back,
    head(collect(CASE WHEN forward THEN r END)) AS one, head(collect(CASE WHEN forward THEN null ELSE r END)) AS other
  WITH b, collect(CASE WHEN there > 0 AND back > 0 THEN {relations: [one, other], times: there + back} END) AS both
  RETURN count(*) AS pairs, collect(CASE WHEN size(both) > 0 THEN both END) AS hits
}
WITH sum(pairs) AS total, collect(CASE WHEN size(hits) > 0 THEN hits END) AS lists
WITH total, reduce(n = 0, list IN lists | n + size(list)) AS count, CASE WHEN isEmpty(lists) THEN [[null]] ELSE lists END AS lists
UNWIND lists AS list
UNWIND list AS both
WITH total, count, both, count(*) AS once
WITH total, count, [r IN both[0].relations | {r: r, a: startNode(r), b: endNode(r)}] AS found, reduce(n = 0, x IN both | n + x.times) AS times
WITH total, count, times, [x IN found | {r: x.r, label: left(@label(x.r), 200),
  a: @display(x.a),
  b: @display(x.b)}] AS found
WITH total, count, times, [x IN found | {r: x.r, label: x.label,
  shown: left(x.a, 200) + ' -[' + x.label + ']-> ' + left(x.b, 200)}] AS found
WITH total, count, times, CASE WHEN found[0].shown <= found[1].shown THEN found ELSE [found[1], found[0]] END AS found
ORDER BY times DESC, found[0].shown LIMIT $sample
RETURN count, total, collect(CASE WHEN times IS NOT NULL THEN {
  items: [x IN found | {element_id: elementId(x.r), key: x.shown, name: x.shown, type: x.label, kind: 'relation'}],
  why: toString(times) + ' relations in both directions'
} END) AS sample
