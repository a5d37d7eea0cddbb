// value-shapes: of what kind and length the short values of properties are, without a row for each: digits, codes (capitals, or capitals and
// digits, or small letters of one word), words (with a small letter behind another letter), others. `zeros`: that begin with a 0; `values`:
// that differ. `country`: the value of the property `country` beside it, where one is named.
//
// :param suspects => [{label: 'Shop', key: 'plz', country: 'land'}] -- LIST OF MAP: properties of labels, or of types ({type, key})
//
// returns: at INTEGER, country STRING, shape STRING, length INTEGER, times INTEGER, zeros INTEGER, values INTEGER
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  WITH n, labels(n) AS known
  UNWIND [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IN known] AS at
  RETURN at, n[$suspects[at].key] AS value, n[$suspects[at].country] AS country
  UNION ALL
  WITH [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IS NULL] AS places
  WHERE NOT isEmpty(places)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(i IN places WHERE $suspects[i].type = type(r))
  UNWIND [i IN places WHERE $suspects[i].type = type(r)] AS at
  RETURN at, r[$suspects[at].key] AS value, r[$suspects[at].country] AS country
}
WITH at, country, value
WHERE value IS :: STRING NOT NULL OR value IS :: INTEGER NOT NULL
WITH at, left(trim(coalesce(toStringOrNull(country), '')), 100) AS country, trim(toString(value)) AS text
WHERE text <> ''
WITH at, country, text, CASE
  WHEN size(text) > 40 THEN 'other'
  WHEN text =~ '[0-9]+' THEN 'digits'
  WHEN text =~ '\\p{Lu}{2,6}' THEN 'capitals'
  WHEN text =~ '\\p{Ll}{2,3}' THEN 'small'
  WHEN text =~ '[\\p{Lu}\\d]{2,6}' THEN 'mixed'
  WHEN text =~ '\\p{L}[\\p{L}\'’.-]*\\p{Ll}{2}[\\p{L}\'’. -]*' THEN 'word'
  ELSE 'other' END AS shape
WITH at, country, shape, CASE WHEN shape IN ['other', 'word'] THEN 0 ELSE size(text) END AS length, text
RETURN at, country, shape, length, count(*) AS times, sum(CASE WHEN text STARTS WITH '0' THEN 1 ELSE 0 END) AS zeros,
  count(DISTINCT text) AS values
ORDER BY at, country, times DESC, shape, length
