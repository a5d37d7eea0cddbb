// number-spread: how the numbers of properties are spread, without a row for each: how many lie in each twentieth of a power of ten, and the
// least and the greatest there. Texts count where they are numbers in digits.
//
// :param suspects => [{label: 'Player', key: 'height_cm'}] -- LIST OF MAP: properties of labels, or of types ({type, key})
//
// returns: at INTEGER, times INTEGER, low FLOAT, high FLOAT
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  WITH n, labels(n) AS known
  UNWIND [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IN known] AS at
  RETURN at, n[$suspects[at].key] AS value
  UNION ALL
  WITH [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IS NULL] AS places
  WHERE NOT isEmpty(places)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(i IN places WHERE $suspects[i].type = type(r))
  UNWIND [i IN places WHERE $suspects[i].type = type(r)] AS at
  RETURN at, r[$suspects[at].key] AS value
}
WITH at, value WHERE value IS NOT NULL
WITH at, CASE
  WHEN value IS :: INTEGER OR value IS :: FLOAT THEN toFloat(value)
  WHEN value IS :: STRING AND trim(value) =~ '[+-]?(0|[1-9]\\d{0,14})([.]\\d{1,15})?([eE][+-]?\\d{1,2})?' THEN toFloat(trim(value))
END AS x
WHERE abs(x) < 1e300
WITH at, x, CASE WHEN x > 0 THEN toInteger(floor(log10(x) * 20)) END AS part, sign(x) AS side
WITH at, side, part, count(*) AS times, min(x) AS low, max(x) AS high
RETURN at, times, low, high
ORDER BY at, low
