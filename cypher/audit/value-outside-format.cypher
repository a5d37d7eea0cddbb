// value-outside-format: how many texts are unlike nearly all others of their property, which are numbers, dates or addresses: outside (they
// hold nothing of the kind), dressed (a number with more than digits: 110 kV), turned (a date that does not begin with the year), impossible
// (a day that no calendar has), first (a date that begins with the year), address (a mail or web address among texts that are none).
//
// :param suspects => [{label: 'Item', key: 'price', format: 'number'}] -- LIST OF MAP: properties of labels, or of types ({type, key})
//
// returns: owner STRING, key STRING, texts INTEGER, kinds LIST OF MAP
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
WHERE NOT text =~ '(?ius)null|none|nan|n/?a|n\\.\\s?a\\.?|nil|undefined|unknown|tb[ad]|t\\.b\\.[ad]\\.|[ns]/d|n\\.[cd]\\.|k\\.\\s?a\\.|keine angaben?|unbekannt|entfällt|entfaellt|sin datos|desconocid[oa]|inconnue?|non renseignée?|sconosciut[oa]|onbekend|lorem ipsum.*|-*|[?]+'
WITH owner, s, text, NOT CASE s.format
  WHEN 'mail address' THEN text CONTAINS '@'
  WHEN 'web address' THEN (text CONTAINS '.' OR text CONTAINS '/') AND (NOT text CONTAINS '@' OR text CONTAINS '/')
  WHEN 'telephone number' THEN text =~ '(?s).*[0-9].*' AND NOT text CONTAINS '@'
  WHEN 'word' THEN text =~ '(?sU).*\\w.*' AND NOT text =~ '[\\d\\s.:,/+-]+' AND NOT text CONTAINS '@'
  WHEN 'text' THEN true
  ELSE text =~ '(?s).*[0-9].*' END AS outside
WITH owner, s, text, CASE
  WHEN outside THEN 'outside'
  WHEN s.format = 'text' AND text =~ '(?i)(?:https?|ftp)://\\S+|[^\\s@]+@[^\\s@]+\\.[a-z]{2,}' THEN 'address'
  WHEN s.format = 'number' AND NOT text =~ '[+-]?\\d{1,15}([.,]\\d{1,15})*([eE][+-]?\\d{1,3})?%?' THEN 'dressed'
  WHEN s.format <> 'date' THEN null
  WHEN NOT text =~ '\\d{4}(-\\d{1,2}(-\\d{1,2}([T ].*)?)?)?' THEN 'turned'
  WHEN text STARTS WITH '0000' OR text =~ '\\d{4}-(0?0|1[3-9]|[2-9]\\d)(-.*)?|\\d{4}-\\d{1,2}-(0?0|3[2-9]|[4-9]\\d)([T ].*)?'
    OR text =~ '\\d{4}-(0?2-3[01]|(0?[469]|11)-31)([T ].*)?' THEN 'impossible'
  WHEN text CONTAINS '-' THEN 'first'
END AS kind
WITH owner, s.key AS key, kind, count(*) AS times, min(text) AS example
RETURN owner, key, sum(times) AS texts, [x IN collect({kind: kind, times: times, example: example}) WHERE x.kind IS NOT NULL] AS kinds
ORDER BY owner, key
