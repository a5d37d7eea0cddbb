// impossible-value: how many values lie outside what their property can hold (a latitude of 148, a birth next year), and which.
// `low`, `high`: of numbers; `latest`: of dates and years, as ISO 8601 text; `earliest`: the first year, of dates and years, `recent` is
// handed back beside `least`, the first year of those that are none earlier. Other values do not count.
//
// :param suspects => [{label: 'Airport', key: 'lat', low: -90.0, high: 90.0, earliest: null, latest: null, recent: null}] -- LIST OF MAP: properties of labels
// :param sample => 5                                                                                                       -- INTEGER: examples to return
//
// returns: owner STRING, key STRING, recent INTEGER, least INTEGER, judged INTEGER, hits INTEGER, sample LIST OF MAP
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
UNWIND range(0, size($suspects) - 1) AS at
WITH at, $suspects[at] AS s, n
WHERE s.label IN labels(n)
WITH at, s, n, n[s.key] AS value
WHERE value IS NOT NULL AND NOT value IS :: LIST<ANY> AND NOT value IS :: BOOLEAN
WITH at, s, n, toStringOrNull(value) AS text, toFloatOrNull(toStringOrNull(value)) AS number
WITH at, s, n, text, CASE WHEN abs(number) < 1e9 THEN toInteger(number) WHEN text =~ '\\d{4}-\\d\\d.*' THEN toInteger(left(text, 4)) END AS year, CASE
  WHEN s.earliest IS NULL AND s.latest IS NULL THEN number < coalesce(s.low, number) OR number > coalesce(s.high, number)
  WHEN s.earliest IS NOT NULL AND number IS NOT NULL THEN 0 <= number AND number < s.earliest
  WHEN text STARTS WITH '0000' THEN null
  WHEN s.earliest IS NOT NULL THEN toInteger(left(CASE WHEN text =~ '\\d{4}-\\d\\d.*' THEN text END, 4)) < s.earliest
  WHEN text =~ '[+]\\d{5,}-.*|\\d{5,}' THEN true
  WHEN text =~ '\\d{4}(-\\d\\d(-\\d\\d([T ].*)?)?)?' THEN left(text, 10) > left(s.latest, size(left(text, 10)))
END AS outside
WHERE outside IS NOT NULL
WITH at, s, count(*) AS judged, min(CASE WHEN NOT outside THEN year END) AS least,
  collect(CASE WHEN outside THEN {n: n, text: text} END) AS hits
RETURN s.label AS owner, s.key AS key, s.recent AS recent, least, judged, size(hits) AS hits, COLLECT {
  UNWIND hits AS hit
  WITH hit.n AS n, left(hit.text, 40) AS text, left(@display(hit.n), 200) AS name
  ORDER BY name, elementId(n)
  LIMIT $sample
  RETURN {items: [{element_id: elementId(n), key: name, name: name, type: @type(n), kind: 'entity'}], why: s.key + ' ' + text}
} AS sample
ORDER BY owner, key, at
