// null-text: how often a word stands for no value ('NULL', 'n/a') in properties in which a sample met such a word.
//
// :param suspects => [{label: 'Order', key: 'shipRegion'}] -- LIST OF MAP: properties of labels, or of types ({type, key})
//
// returns: owner STRING, key STRING, texts INTEGER, hits INTEGER, word STRING
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  UNWIND [s IN $suspects WHERE s.label IN labels(n)] AS s
  RETURN s.label AS owner, s.key AS key, n[s.key] AS value
  UNION ALL
  WITH [s IN $suspects WHERE s.label IS NULL] AS suspects
  WHERE NOT isEmpty(suspects)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(s IN suspects WHERE s.type = type(r))
  UNWIND [s IN suspects WHERE s.type = type(r)] AS s
  RETURN s.type AS owner, s.key AS key, r[s.key] AS value
}
WITH owner, key, value
WHERE value IS :: STRING NOT NULL
WITH owner, key, CASE WHEN trim(value) =~ '(?i)null|none|nan|n/?a|nil|undefined|unknown|\\\\N|-+|[?]+' THEN trim(value) END AS word
RETURN owner, key, count(*) AS texts, count(word) AS hits, min(word) AS word
ORDER BY hits DESC, owner, key
