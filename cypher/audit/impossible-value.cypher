// impossible-value: how many values lie outside what their property can hold (a latitude of 148, a birth next year), and which.
// `low`, `high`: of numbers; `latest`: of dates and years, as ISO 8601 text; `earliest`: the first year, of dates and years, `recent` is
// handed back beside `least`, the first year of those that are none earlier. `days`: days that stand for none, of labels and of relation
// types (`type`). Other values do not count.
//
// :param suspects => [{label: 'Airport', key: 'lat', low: -90.0, high: 90.0, earliest: null, latest: null, recent: null, days: null}] -- LIST OF MAP: properties of labels, or of types ({type, key})
// :param sample => 5                                                                                                                   -- INTEGER: examples to return
//
// returns: at INTEGER, owner STRING, key STRING, recent INTEGER, least INTEGER, judged INTEGER, hits INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  WITH n, labels(n) AS known
  UNWIND [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IN known] AS at
  RETURN at, n, null AS r, n[$suspects[at].key] AS value
  UNION ALL
  WITH [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IS NULL] AS places
  WHERE NOT isEmpty(places)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(i IN places WHERE $suspects[i].type = type(r))
  UNWIND [i IN places WHERE $suspects[i].type = type(r)] AS at
  RETURN at, null AS n, r, r[$suspects[at].key] AS value
}
WITH at, $suspects[at] AS s, n, r, value
WHERE value IS NOT NULL AND NOT value IS :: LIST<ANY> AND NOT value IS :: BOOLEAN
WITH at, s, n, r, toStringOrNull(value) AS text, toFloatOrNull(toStringOrNull(value)) AS number
WITH at, s, n, r, text, CASE WHEN abs(number) < 1e9 THEN toInteger(number) WHEN text =~ '\\d{4}-\\d\\d.*' THEN toInteger(left(text, 4)) END AS year, CASE
  WHEN s.days IS NOT NULL THEN CASE
    WHEN text =~ '\\d{4}-\\d{2}-\\d{2}([T ]00:00(:00([.]0*)?)?(Z|[+-]\\d\\d:?\\d\\d.*|\\[.*)?)?' THEN left(text, 10) IN s.days
    WHEN text =~ '\\d{1,2}[./]\\d{1,2}[./]\\d{4}( 00:00(:00)?)?' THEN any(p IN [split(replace(left(text, 10), '/', '.'), '.')]
      WHERE left(p[2], 4) + '-' + right('0' + p[1], 2) + '-' + right('0' + p[0], 2) IN s.days
        OR left(p[2], 4) + '-' + right('0' + p[0], 2) + '-' + right('0' + p[1], 2) IN s.days)
    WHEN text =~ '\\d{4}-\\d{2}.*' THEN false END
  WHEN s.earliest IS NULL AND s.latest IS NULL THEN number < coalesce(s.low, number) OR number > coalesce(s.high, number)
  WHEN s.earliest IS NOT NULL AND number IS NOT NULL THEN 0 <= number AND number < s.earliest
  WHEN text STARTS WITH '0000' THEN null
  WHEN s.earliest IS NOT NULL THEN toInteger(left(CASE WHEN text =~ '\\d{4}-\\d\\d.*' THEN text END, 4)) < s.earliest
  WHEN text =~ '[+]\\d{5,}-.*|\\d{5,}' THEN true
  WHEN text =~ '\\d{4}(-\\d\\d(-\\d\\d([T ].*)?)?)?' THEN left(text, 10) > left(s.latest, size(left(text, 10)))
END AS outside
WHERE outside IS NOT NULL
WITH at, s, count(*) AS judged, min(CASE WHEN NOT outside THEN year END) AS least,
  collect(CASE WHEN outside THEN {n: n, r: r, text: text} END) AS hits
RETURN at, coalesce(s.label, s.type) AS owner, s.key AS key, s.recent AS recent, least, judged, size(hits) AS hits, COLLECT {
  UNWIND hits AS hit
  WITH hit.n AS n, hit.r AS r, left(hit.text, 40) AS text
  WITH n, r, text, CASE
    WHEN r IS NULL THEN left(@display(n), 200)
    ELSE left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200)
  END AS name
  ORDER BY name, coalesce(elementId(n), elementId(r))
  LIMIT $sample
  RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
    kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}], why: s.key + ' ' + text}
} AS sample
ORDER BY owner, key, at
