// impossible-value: how many values lie outside what their property can hold (a latitude of 148, a birth next year), and which.
// `low`, `high`: of numbers; `latest`: of dates and years, as ISO 8601 text. Other values do not count.
//
// :param suspects => [{label: 'Airport', key: 'lat', low: -90.0, high: 90.0, latest: null}] -- LIST OF MAP: properties of labels
// :param sample => 5                                                                       -- INTEGER: examples to return
//
// returns: owner STRING, key STRING, judged INTEGER, hits INTEGER, sample LIST OF MAP
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
UNWIND [s IN $suspects WHERE s.label IN labels(n)] AS s
WITH s, n, n[s.key] AS value
WHERE value IS NOT NULL AND NOT value IS :: LIST<ANY> AND NOT value IS :: BOOLEAN
WITH s, n, toStringOrNull(value) AS text, toFloatOrNull(toStringOrNull(value)) AS number
WITH s, n, text, CASE
  WHEN s.latest IS NULL THEN number < coalesce(s.low, number) OR number > coalesce(s.high, number)
  WHEN text =~ '\\d{4}(-\\d\\d(-\\d\\d([T ].*)?)?)?' THEN left(text, 10) > left(s.latest, size(left(text, 10)))
END AS outside
WHERE outside IS NOT NULL
WITH s, count(*) AS judged, collect(CASE WHEN outside THEN {n: n, text: text} END) AS hits
RETURN s.label AS owner, s.key AS key, judged, size(hits) AS hits, COLLECT {
  UNWIND hits AS hit
  WITH hit.n AS n, left(hit.text, 40) AS text, left(@display(hit.n), 200) AS name
  ORDER BY name, elementId(n)
  LIMIT $sample
  RETURN {items: [{element_id: elementId(n), key: name, name: name, type: @type(n), kind: 'entity'}], why: s.key + ' ' + text}
} AS sample
ORDER BY owner, key
