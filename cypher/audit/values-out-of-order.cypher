// values-out-of-order: how many nodes and relations have both of two values of which one comes first (a birth, a death), and on how many
// they stand the wrong way round. Values that cannot be compared (a date and a number) do not count. The two may be a relation's own and
// one of the node at its start or end, or of the two nodes.
//
// :param ordered => [{place: 0, owner: 'Person', labels: ['Person'], first: 'born', last: 'died'}] -- LIST OF MAP: two properties of labels, or of a type; with first_of, last_of ('start', 'relation', 'end') between labels start and end
// :param sample => 5                                                                           -- INTEGER: examples to return; 0: only counted
//
// returns: place INTEGER, first_of STRING, compared INTEGER, before INTEGER, old INTEGER, gaps LIST OF LIST, hits INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(p IN $ordered WHERE l IN p.labels))
  UNWIND [p IN $ordered WHERE any(l IN labels(n) WHERE l IN p.labels)] AS p
  RETURN p, n, null AS r, n[p.first] AS first, n[p.last] AS last
  UNION ALL
  WITH [p IN $ordered WHERE p.type IS NOT NULL] AS pairs
  WHERE NOT isEmpty(pairs)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(p IN pairs WHERE p.type = type(r))
  UNWIND [p IN pairs WHERE p.type = type(r) AND (p.first_of IS NULL OR (p.start IN labels(a) AND p.end IN labels(b) AND a <> b))] AS p
  RETURN p, null AS n, r, CASE p.first_of WHEN 'start' THEN a[p.first] WHEN 'end' THEN b[p.first] ELSE r[p.first] END AS first,
    CASE p.last_of WHEN 'start' THEN a[p.last] WHEN 'end' THEN b[p.last] ELSE r[p.last] END AS last
}
WITH p, n, r, first, last
WHERE none(x IN [first, last] WHERE x IS :: LIST<ANY> OR x IS :: BOOLEAN OR x IS :: ZONED TIME)
WITH p, n, r, toStringOrNull(first) AS first, toStringOrNull(last) AS last,
  CASE WHEN NOT first IS :: STRING AND NOT first IS :: LOCAL TIME THEN first > last END AS known
WHERE NOT coalesce(p.is_part, false) OR toFloatOrNull(first) >= 0
WITH p, n, r, first, last, known, '([01]\\d|2[0-3]):[0-5]\\d(:.*)?' AS clock, '\\d{4}(-\\d\\d(-\\d\\d([T ].*)?)?)?' AS day
WITH p, n, r, first, last, CASE
  WHEN known IS NOT NULL THEN known
  WHEN first =~ day AND last =~ day THEN left(first, size(last)) > last AND left(last, size(first)) < first AND (
    left(first, 10) > left(last, 10) OR (substring(first, 19) = substring(last, 19) AND left(first, 19) > left(last, 19)))
  // of times of day, what begins in the afternoon may end in the morning
  WHEN first =~ clock AND last =~ clock THEN CASE WHEN first < '12' OR last >= '12' THEN left(first, 5) > left(last, 5) END
  ELSE toFloatOrNull(first) > toFloatOrNull(last)
END AS reversed
WHERE reversed IS NOT NULL
// how far apart they are: days of dates and years, doubling; years before the year 1000 may be no years
WITH p, n, r, first, last, reversed, [x IN [first, last] | CASE WHEN x =~ '\\d{4}-.*'
  THEN 372.0 * toInteger(left(x, 4)) + 31 * toInteger(substring(x, 5, 2)) + coalesce(toIntegerOrNull(substring(x, 8, 2)), 1)
  ELSE 372 * toFloatOrNull(x) END] AS days
WITH p, n, r, first, last, reversed, any(x IN days WHERE x < 372000) AS old,
  // a day, and a time of the same day: neither comes first
  first =~ '\\d{4}-.*' AND last =~ '\\d{4}-.*' AND (first STARTS WITH last OR last STARTS WITH first) AS same_day,
  toInteger(log(abs(coalesce(days[1] - days[0], 0.0)) + 1) / log(2)) AS gap
WITH p, reversed, gap, count(*) AS times, sum(CASE WHEN old THEN 1 ELSE 0 END) AS old,
  sum(CASE WHEN reversed OR first = last OR same_day THEN 0 ELSE 1 END) AS before,
  collect(CASE WHEN reversed AND $sample > 0 THEN {n: n, r: r, first: first, last: last} END) AS hits
WITH p, sum(times) AS compared, sum(CASE WHEN reversed THEN times ELSE 0 END) AS wrong, sum(before) AS before, sum(old) AS old,
  collect([reversed, gap, times]) AS gaps, collect(hits) AS hits
WITH collect(p {.*, compared: compared, wrong: wrong, before: before, old: old, gaps: gaps, hits: hits}) AS rows
UNWIND $ordered AS p
WITH p, head([row IN rows WHERE row.place = p.place]) AS row
WITH p, coalesce(row.compared, 0) AS compared, coalesce(row.before, 0) AS before, coalesce(row.old, 0) AS old,
  coalesce(row.gaps, []) AS gaps, coalesce(row.wrong, 0) AS wrong, coalesce(row.hits, []) AS hits
RETURN p.place AS place, p.first_of AS first_of, compared, before, old, gaps, wrong AS hits, COLLECT {
  UNWIND hits AS some
  UNWIND some AS hit
  WITH hit.n AS n, hit.r AS r, left(hit.first, 40) AS first, left(hit.last, 40) AS last
  WITH n, r, first, last, CASE
    WHEN r IS NULL THEN left(@display(n), 200)
    ELSE left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200)
  END AS name
  ORDER BY name, coalesce(elementId(n), elementId(r))
  LIMIT $sample
  RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
    kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}],
    why: coalesce(p.first_owner + '.', CASE p.first_of WHEN 'start' THEN left(@display(startNode(r)), 60) + ': '
        WHEN 'end' THEN left(@display(endNode(r)), 60) + ': ' END, '') + p.first + ' ' + first + ', '
      + coalesce(p.last_owner + '.', CASE p.last_of WHEN 'start' THEN left(@display(startNode(r)), 60) + ': '
        WHEN 'end' THEN left(@display(endNode(r)), 60) + ': ' END, '') + p.last + ' ' + last,
    held: [x IN [[p.first_of, p.first], [p.last_of, p.last]] | [elementId(CASE x[0] WHEN 'start' THEN startNode(r) WHEN 'end' THEN endNode(r)
      ELSE coalesce(n, r) END), x[1]]]}
} AS sample
ORDER BY p.place
