// value-outside-format: how many texts are unlike nearly all others of their property, which are numbers, dates or addresses: outside (they
// hold nothing of the kind), dressed (a number with more than digits: 110 kV), turned (a date that does not begin with the year), impossible
// (a day that no calendar has), first (a date that begins with the year), address (a mail or web address among texts that are none), named (a
// word among codes), shortened (digits that have lost a 0 at their beginning: `lost` has them with the country beside). Those of `kinds` are
// listed, each with a node or relation that has it.
//
// :param suspects => [{label: 'Item', key: 'price', format: 'number', kinds: ['outside'], lost: []}] -- LIST OF MAP: properties of labels, or of types ({type, key})
// :param shown => 5                                                                                  -- INTEGER: values of a property and a kind that are listed
//
// returns: at INTEGER, kind STRING, times INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  WITH n, labels(n) AS known
  UNWIND [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IN known] AS at
  RETURN at, n, null AS r, n[$suspects[at].key] AS value, n[$suspects[at].country] AS country
  UNION ALL
  WITH [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IS NULL] AS places
  WHERE NOT isEmpty(places)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(i IN places WHERE $suspects[i].type = type(r))
  UNWIND [i IN places WHERE $suspects[i].type = type(r)] AS at
  RETURN at, null AS n, r, r[$suspects[at].key] AS value, r[$suspects[at].country] AS country
}
WITH at, $suspects[at] AS s, n, r, value, country
WHERE value IS :: STRING NOT NULL OR (s.format = 'digits' AND value IS :: INTEGER NOT NULL)
WITH at, s, n, r, trim(toString(value)) AS text, left(trim(coalesce(toStringOrNull(country), '')), 100) AS country
WHERE text <> '' AND NOT @null_word(text)
WITH at, s, n, r, text, country, NOT CASE s.format
  WHEN 'mail address' THEN text CONTAINS '@'
  WHEN 'web address' THEN (text CONTAINS '.' OR text CONTAINS '/') AND (NOT text CONTAINS '@' OR text CONTAINS '/')
  WHEN 'telephone number' THEN text =~ '(?s).*[0-9].*' AND NOT text CONTAINS '@'
  WHEN 'word' THEN text =~ '(?sU).*\\w.*' AND NOT text =~ '[\\d\\s.:,/+-]+' AND NOT text CONTAINS '@'
  WHEN 'text' THEN true
  WHEN 'code' THEN true
  WHEN 'digits' THEN true
  ELSE text =~ '(?s).*[0-9].*' END AS outside
WITH at, s, n, r, text, CASE
  WHEN outside THEN 'outside'
  WHEN s.format = 'text' AND text =~ '(?i)(?:https?|ftp)://\\S+|[^\\s@]+@[^\\s@]+\\.[a-z]{2,}' THEN 'address'
  WHEN s.format = 'number' AND NOT text =~ '[+-]?\\d{1,15}([.,]\\d{1,15})*([eE][+-]?\\d{1,3})?%?' THEN 'dressed'
  WHEN s.format = 'code' AND text =~ '\\p{L}[\\p{L}\'’.-]*\\p{Ll}{2}[\\p{L}\'’. -]*' AND size(text) > s.length
    AND NOT text =~ '(?i)(?:others?|various|mixed|multiple|several|international|global|world(?:wide)?|all|any|not .*|no .*|sonstiges?|andere|verschiedene?|diverse?|autres?|divers|plusieurs|otr[oa]s?|vari[oa]s|altr[oie]|overig|outr[oa]s?)' THEN 'named'
  WHEN s.format = 'digits' AND [country, text] IN s.lost THEN 'shortened'
  WHEN s.format <> 'date' THEN null
  WHEN NOT text =~ '\\d{4}(-\\d{1,2}(-\\d{1,2}([T ].*)?)?)?' THEN 'turned'
  WHEN text STARTS WITH '0000' OR text =~ '\\d{4}-(0?0|1[3-9]|[2-9]\\d)(-.*)?|\\d{4}-\\d{1,2}-(0?0|3[2-9]|[4-9]\\d)([T ].*)?'
    OR text =~ '\\d{4}-(0?2-3[01]|(0?[469]|11)-31)([T ].*)?' THEN 'impossible'
  WHEN text CONTAINS '-' THEN 'first'
END AS kind
WITH at, kind, count(*) AS times, collect(CASE WHEN kind IN s.kinds THEN {n: n, r: r, text: text} END) AS listed
RETURN at, kind, times, COLLECT {
  UNWIND listed AS one
  WITH one.text AS text, one.n AS n, one.r AS r
  WITH text, CASE
    WHEN r IS NULL THEN left(@display(n), 60)
    ELSE left(@display(startNode(r)), 60) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 60)
  END AS name
  ORDER BY text, name
  LIMIT $shown
  RETURN {text: left(text, 60), name: name}
} AS sample
ORDER BY at, kind
