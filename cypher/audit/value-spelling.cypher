// value-spelling: the texts of properties that have few of them, each with how often it stands there.
//
// :param suspects => [{label: 'Account', key: 'currency'}] -- LIST OF MAP: properties of labels, or of types ({type, key})
// :param max_values => 2000                                -- INTEGER: texts of a property above which it is no list of values
//
// returns: owner STRING, key STRING, texts LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  UNWIND [s IN $suspects WHERE s.label IN labels(n)] AS s
  RETURN s.label AS owner, s, n[s.key] AS value
  UNION ALL
  WITH [s IN $suspects WHERE s.label IS NULL] AS suspects
  WHERE NOT isEmpty(suspects)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(s IN suspects WHERE s.type = type(r))
  UNWIND [s IN suspects WHERE s.type = type(r)] AS s
  RETURN s.type AS owner, s, r[s.key] AS value
}
WITH owner, s.key AS key, value
WHERE value IS :: STRING NOT NULL AND size(value) < 100
WITH owner, key, value, count(*) AS times
ORDER BY times DESC, value
WITH owner, key, collect({text: value, times: times}) AS texts
WHERE size(texts) <= $max_values
RETURN owner, key, texts
ORDER BY owner, key
