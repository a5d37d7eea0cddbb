// unusual-ratio: of how many nodes and relations two numbers have a ratio below `low` or above `high`, where nearly all others lie, and
// which (at most a thousand), the farthest first. `parts`: how many ratios lie in each twentieth of a power of ten, the least and the
// greatest there. The two are a node's, a relation's, or of the nodes at its start and end. Zeros and numbers below do not count.
//
// :param suspects => [{at: 0, type: 'HAS_FEE', start: 'Permit', end: 'Fee', first: 'amount', first_of: 'end', last: 'cost', last_of: 'start', low: 0.0008, middle: 0.004, high: 0.021}] -- LIST OF MAP: two numbers, and where their ratio lies
// :param sample => 5 -- INTEGER: examples to return
//
// returns: at INTEGER, rows INTEGER, hits INTEGER, parts LIST OF LIST, farthest LIST OF MAP, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(d IN $suspects WHERE d.type IS NULL AND d.start = l))
  UNWIND [d IN $suspects WHERE d.type IS NULL AND d.start IN labels(n)] AS d
  RETURN d, n, null AS r, n[d.first] AS first, n[d.last] AS last
  UNION ALL
  WITH [d IN $suspects WHERE d.type IS NOT NULL] AS suspects
  WHERE NOT isEmpty(suspects)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(d IN suspects WHERE d.type = type(r)) AND a <> b
  UNWIND [d IN suspects WHERE d.type = type(r) AND d.start IN labels(a) AND d.end IN labels(b)] AS d
  RETURN d, null AS n, r, CASE d.first_of WHEN 'start' THEN a[d.first] WHEN 'end' THEN b[d.first] ELSE r[d.first] END AS first,
    CASE d.last_of WHEN 'start' THEN a[d.last] WHEN 'end' THEN b[d.last] ELSE r[d.last] END AS last
}
WITH d, n, r, first, last, [v IN [first, last] | CASE
  WHEN v IS :: INTEGER OR v IS :: FLOAT THEN toFloat(v)
  WHEN v IS :: STRING AND v =~ '\\s*[+-]?(0|[1-9]\\d{0,14})([.]\\d{1,15})?\\s*' THEN toFloat(trim(v)) END] AS x
WHERE 0 < x[0] < 1e15 AND 0 < x[1] < 1e15
WITH d, n, r, first, last, x[0] / x[1] AS ratio
WITH d, toInteger(floor(log10(ratio) * 20)) AS part, count(*) AS times, min(ratio) AS low, max(ratio) AS high,
  collect(CASE WHEN ratio < d.low OR ratio > d.high
    THEN {n: n, r: r, first: first, last: last, ratio: ratio, far: abs(log(ratio / d.middle))} END)[0..1000] AS hits
ORDER BY part
WITH d, sum(times) AS rows, collect([times, low, high]) AS parts, collect(hits) AS hits
WITH d, rows, parts, COLLECT { UNWIND hits AS part UNWIND part AS h RETURN h ORDER BY h.far DESC LIMIT 1000 } AS some
RETURN d.at AS at, rows, size(some) AS hits, parts,
  [h IN some | {id: coalesce(elementId(h.n), elementId(h.r)), ratio: h.ratio, first: toFloat(h.first), last: toFloat(h.last)}] AS farthest,
  COLLECT {
    UNWIND some AS h
    WITH h, h.n AS n, h.r AS r
    WITH h, n, r, CASE
      WHEN r IS NULL THEN left(@display(n), 200)
      ELSE left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200)
    END AS name
    ORDER BY h.far DESC, name, coalesce(elementId(n), elementId(r))
    LIMIT $sample
    RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
      kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}],
      why: d.first + ' ' + left(toString(h.first), 40) + ', ' + d.last + ' ' + left(toString(h.last), 40)}
  } AS sample
ORDER BY at
