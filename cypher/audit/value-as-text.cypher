// value-as-text: how many texts are numbers, or dates, in properties whose sampled texts all but were; how many of them begin
// with a 0 before another digit, are below zero, and have a fraction, and the digits before it that the shortest and the longest have.
//
// :param suspects => [{label: 'Product', key: 'unitPrice'}] -- LIST OF MAP: properties of labels, or of types ({type, key})
//
// returns: owner STRING, key STRING, texts INTEGER, numbers INTEGER, dates INTEGER, padded INTEGER, negative INTEGER, fractions INTEGER, shortest INTEGER, longest INTEGER, example STRING
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
WITH owner, key, trim(value) AS text
WHERE text <> '' AND NOT @null_word(text)
WITH owner, key, text, text =~ '(?:-|[+](?=\\d{1,5}(?!\\d)))?\\d{1,15}(?:[.,]\\d{1,15})?(?:[eE][+-]?\\d{1,3})?' AS is_number,
  text =~ '[12]\\d{3}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\\d|3[01])(?:[T ]\\d{1,2}:\\d{2}.{0,20})?|\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}'
    AND NOT text =~ '\\d{4}-(?:0?2-3[01]|(?:0?[469]|11)-31).*' AS is_date
RETURN owner, key, count(*) AS texts, sum(CASE WHEN is_number THEN 1 ELSE 0 END) AS numbers,
  sum(CASE WHEN is_date THEN 1 ELSE 0 END) AS dates, sum(CASE WHEN text =~ '0\\d.*' THEN 1 ELSE 0 END) AS padded,
  sum(CASE WHEN is_number AND text STARTS WITH '-' THEN 1 ELSE 0 END) AS negative,
  sum(CASE WHEN is_number AND text =~ '.*[.,].*' THEN 1 ELSE 0 END) AS fractions,
  min(CASE WHEN is_number THEN size(split(replace(text, ',', '.'), '.')[0]) END) AS shortest,
  max(CASE WHEN is_number THEN size(split(replace(text, ',', '.'), '.')[0]) END) AS longest,
  min(CASE WHEN is_date OR (is_number AND NOT text STARTS WITH '-') THEN text END) AS example
ORDER BY owner, key
