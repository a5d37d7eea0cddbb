// value-outside-format: how many texts hold nothing of what nearly all others of their property are: numbers, dates or addresses; and how
// many dates are not written from the year on (2020-05-06), of which a year or a month alone is.
//
// :param suspects => [{label: 'Item', key: 'price', format: 'number'}] -- LIST OF MAP: properties of labels, or of types ({type, key})
//
// returns: owner STRING, key STRING, texts INTEGER, outside INTEGER, example STRING, turned INTEGER, turned_example STRING
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
WITH owner, s, trim(value) AS text
WHERE NOT text =~ '(?i)null|none|nan|n/?a|nil|undefined|unknown|-*|[?]+'
WITH owner, s, text, NOT CASE s.format
  WHEN 'mail address' THEN text CONTAINS '@'
  WHEN 'web address' THEN text CONTAINS '.' OR text CONTAINS '/'
  ELSE text =~ '(?s).*[0-9].*' END AS outside
WITH owner, s, text, outside, s.format = 'date' AND NOT outside AND NOT text =~ '\\d{4}(-\\d{1,2}(-\\d{1,2}([T ].*)?)?)?' AS turned
RETURN owner, s.key AS key, count(*) AS texts, sum(CASE WHEN outside THEN 1 ELSE 0 END) AS outside,
  min(CASE WHEN outside THEN text END) AS example, sum(CASE WHEN turned THEN 1 ELSE 0 END) AS turned,
  min(CASE WHEN turned THEN text END) AS turned_example
ORDER BY owner, key
