// null-text: how often a word stands for no value ('NULL', 'n/a') in properties in which a sample met such a word.
//
// `most`: how many of the other texts are listed, the most frequent first, of a property that has few of them.
//
// :param suspects => [{label: 'Order', key: 'shipRegion', most: 31}] -- LIST OF MAP: properties of labels, or of types ({type, key})
//
// returns: owner STRING, key STRING, texts INTEGER, words LIST OF MAP, others LIST OF MAP
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
WITH owner, s, value
WHERE value IS :: STRING NOT NULL
WITH owner, s, left(trim(value), 40) AS text
WITH owner, s, text, @null_word(text) AS is_word
WITH owner, s, is_word, CASE WHEN is_word OR s.most > 0 THEN text END AS text, count(*) AS times
ORDER BY times DESC, text
WITH owner, s, sum(times) AS texts, collect(CASE WHEN is_word THEN {text: text, times: times} END) AS words,
  collect(CASE WHEN NOT is_word AND text IS NOT NULL THEN {text: text, times: times} END)[0..s.most] AS others
RETURN owner, s.key AS key, texts, words, others
ORDER BY owner, key
