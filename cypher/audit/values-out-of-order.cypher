// values-out-of-order: how many nodes and relations have both of two values of which one comes first (a birth, a death), and on how many
// they stand the wrong way round. Values that cannot be compared (a date and a number) do not count.
//
// :param ordered => [{place: 0, owner: 'Person', labels: ['Person'], first: 'born', last: 'died'}] -- LIST OF MAP: two properties of labels, or of a type
// :param sample => 5                                                                           -- INTEGER: examples to return; 0: only counted
//
// returns: owner STRING, first STRING, last STRING, compared INTEGER, before INTEGER, hits INTEGER, sample LIST OF MAP
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
  UNWIND [p IN pairs WHERE p.type = type(r)] AS p
  RETURN p, null AS n, r, r[p.first] AS first, r[p.last] AS last
}
WITH p, n, r, first, last
WHERE none(x IN [first, last] WHERE x IS :: LIST<ANY> OR x IS :: BOOLEAN OR x IS :: LOCAL TIME OR x IS :: ZONED TIME)
WITH p, n, r, toStringOrNull(first) AS first, toStringOrNull(last) AS last, CASE WHEN NOT first IS :: STRING THEN first > last END AS known
WITH p, n, r, first, last, known, '\\d{4}(-\\d\\d(-\\d\\d([T ].*)?)?)?' AS day
WITH p, n, r, first, last, CASE
  WHEN known IS NOT NULL THEN known
  WHEN first =~ day AND last =~ day THEN left(first, size(last)) > last AND left(last, size(first)) < first AND (
    left(first, 10) > left(last, 10) OR (substring(first, 19) = substring(last, 19) AND left(first, 19) > left(last, 19)))
  ELSE toFloatOrNull(first) > toFloatOrNull(last)
END AS reversed
WHERE reversed IS NOT NULL
WITH p, count(*) AS compared, sum(CASE WHEN reversed THEN 1 ELSE 0 END) AS wrong,
  sum(CASE WHEN NOT reversed AND first <> last THEN 1 ELSE 0 END) AS before,
  collect(CASE WHEN reversed AND $sample > 0 THEN {n: n, r: r, first: first, last: last} END) AS hits
WITH collect(p {.*, compared: compared, wrong: wrong, before: before, hits: hits}) AS rows
UNWIND $ordered AS p
WITH p, head([row IN rows WHERE row.place = p.place]) AS row
WITH p, coalesce(row.compared, 0) AS compared, coalesce(row.before, 0) AS before, coalesce(row.wrong, 0) AS wrong,
  coalesce(row.hits, []) AS hits
RETURN p.owner AS owner, p.first AS first, p.last AS last, compared, before, wrong AS hits, COLLECT {
  UNWIND hits AS hit
  WITH hit.n AS n, hit.r AS r, left(hit.first, 40) AS first, left(hit.last, 40) AS last
  WITH n, r, first, last, CASE
    WHEN r IS NULL THEN left(coalesce(@shown(n), ''), 200)
    ELSE left(coalesce(@shown(startNode(r)), ''), 200) + ' -[' + type(r) + ']-> ' + left(coalesce(@shown(endNode(r)), ''), 200)
  END AS name
  ORDER BY name, coalesce(elementId(n), elementId(r))
  LIMIT $sample
  RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
    kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}], why: p.first + ' ' + first + ', ' + p.last + ' ' + last}
} AS sample
ORDER BY p.place
