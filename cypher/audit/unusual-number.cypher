// unusual-number: how many numbers of a property lie outside of where nearly all others do, and which. `low`, `high`: of the others; numbers
// below 0 count where `signs` is true. Texts count where they are numbers in digits.
//
// :param suspects => [{label: 'Player', key: 'height_cm', low: 161.0, high: 202.0, signs: false}] -- LIST OF MAP: properties of labels, or of types ({type, key})
// :param sample => 5                                                                            -- INTEGER: examples to return
//
// returns: at INTEGER, hits INTEGER, sample LIST OF MAP
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
WITH at, $suspects[at] AS s, n, r, value WHERE value IS NOT NULL
WITH at, s, n, r, value, CASE
  WHEN value IS :: INTEGER OR value IS :: FLOAT THEN toFloat(value)
  WHEN value IS :: STRING AND trim(value) =~ '[+-]?(0|[1-9]\\d{0,14})([.]\\d{1,15})?([eE][+-]?\\d{1,2})?' THEN toFloat(trim(value))
END AS x
WHERE (x < 0 AND s.signs) OR (x > 0 AND (x < s.low OR x > s.high) AND abs(x) < 1e300)
WITH at, collect({n: n, r: r, text: left(toString(value), 40)}) AS hits
RETURN at, size(hits) AS hits, COLLECT {
  UNWIND hits[0..1000] AS hit
  WITH hit.n AS n, hit.r AS r, hit.text AS text
  WITH n, r, text, CASE
    WHEN r IS NULL THEN left(@display(n), 200)
    ELSE left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200)
  END AS name
  ORDER BY name, coalesce(elementId(n), elementId(r))
  LIMIT $sample
  RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
    kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}], why: text}
} AS sample
ORDER BY at
