// broken-dependency: how many nodes and relations hold a value that goes against what stands with another one everywhere else: a town with
// another town's postal code, an ingredient in another unit, a number that is not its order's. The two values are a node's, a relation's,
// or of the nodes at its start and end; no `first` means which node stands there. `equal`: the two are the same.
//
// :param rules => [{at: 0, type: null, start: 'Address', end: null, first: 'zip', first_of: 'node', last: 'city', last_of: 'node', equal: false}] -- LIST OF MAP: what says what
// :param sample => 5                                                                       -- INTEGER: examples to return
//
// returns: at INTEGER, rows INTEGER, groups INTEGER, pure INTEGER, wrong INTEGER, told INTEGER, ids LIST OF STRING, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(d IN $rules WHERE d.type IS NULL AND d.start = l))
  UNWIND [d IN $rules WHERE d.type IS NULL AND d.start IN labels(n)] AS d
  RETURN d, n, null AS r, n[d.first] AS first, n[d.last] AS last
  UNION ALL
  WITH [d IN $rules WHERE d.type IS NOT NULL] AS rules
  WHERE NOT isEmpty(rules)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(d IN rules WHERE d.type = type(r)) AND a <> b
  UNWIND [d IN rules WHERE d.type = type(r) AND d.start IN labels(a) AND d.end IN labels(b)] AS d
  RETURN d, null AS n, r, CASE
      WHEN d.first IS NULL THEN CASE d.first_of WHEN 'start' THEN elementId(a) ELSE elementId(b) END
      WHEN d.first_of = 'start' THEN a[d.first] WHEN d.first_of = 'end' THEN b[d.first] ELSE r[d.first] END AS first,
    CASE d.last_of WHEN 'start' THEN a[d.last] WHEN 'end' THEN b[d.last] ELSE r[d.last] END AS last
}
WITH d, n, r, toStringOrNull(first) AS first, toStringOrNull(last) AS last
WHERE first IS NOT NULL AND last IS NOT NULL
WITH d, CASE WHEN d.equal THEN '' ELSE toLower(trim(first)) END AS of,
  CASE WHEN d.equal THEN toString(toLower(trim(first)) = toLower(trim(last))) ELSE toLower(trim(last)) END AS with, count(*) AS times,
  collect({n: n, r: r, first: first, last: last})[0..20] AS things
ORDER BY times DESC, with
WITH d, of, sum(times) AS rows, collect({with: with, times: times, things: things}) AS parts
WHERE rows >= 3
WITH d, rows, head(parts) AS usual, tail(parts) AS others
// a group shows what goes with its value where few go against it, and several do not
WITH d, rows, usual, others, rows - usual.times AS against,
  usual.times >= 3 AND (d.equal OR (rows - usual.times) * 5 <= rows OR rows - usual.times = 1) AND (NOT d.equal OR usual.with = 'true') AS shows
WITH d, sum(rows) AS rows, count(*) AS groups, sum(CASE WHEN against = 0 THEN 1 ELSE 0 END) AS pure, sum(against) AS wrong,
  sum(CASE WHEN shows THEN against ELSE 0 END) AS told,
  collect(CASE WHEN shows AND against > 0 THEN {usual: usual, others: others, rows: rows} END) AS broken
WITH d, rows, groups, pure, wrong, told, COLLECT {
  UNWIND broken AS one
  UNWIND one.others AS part
  UNWIND part.things AS thing
  WITH one, thing, one.usual.times AS usual, one.usual.things[0].last AS known
  RETURN {n: thing.n, r: thing.r, first: thing.first, last: thing.last, usual: usual, of: one.rows, known: known}
  LIMIT 1000
} AS hits
RETURN d.at AS at, rows, groups, pure, wrong, told, [h IN hits | coalesce(elementId(h.n), elementId(h.r))] AS ids, COLLECT {
  UNWIND hits AS h
  WITH h, h.n AS n, h.r AS r, CASE d.first_of WHEN 'start' THEN startNode(h.r) ELSE endNode(h.r) END AS x
  WITH h, n, r, x, CASE
    WHEN r IS NULL THEN left(@display(n), 200)
    ELSE left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200)
  END AS name
  ORDER BY name, coalesce(elementId(n), elementId(r))
  LIMIT $sample
  RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
    kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}],
    why: CASE WHEN d.equal
      THEN d.first + ' ' + left(h.first, 40) + ', ' + d.last + ' ' + left(h.last, 40) + ': the two are the same on ' + h.usual + ' of ' + h.of
      ELSE d.last + ' ' + left(h.last, 40) + ', where ' + h.usual + ' of ' + h.of + ' with '
        + coalesce(d.first + ' ' + left(h.first, 40), left(@display(x), 60))
        + ' have ' + left(h.known, 40) END}
} AS sample
ORDER BY at
