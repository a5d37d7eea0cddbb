// shorter-digits: of properties that hold codes of digits those that are shorter than the others of their country, and those of its length
// that begin with a 0, each with where it is.
//
// :param suspects => [{label: 'Shop', key: 'plz', country: 'land', places: ['ort'], lengths: [['', 5]]}] -- LIST OF MAP: properties of labels, or of types ({type, key}); by country the usual length
//
// returns: at INTEGER, country STRING, places LIST OF STRING, text STRING, times INTEGER
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  WITH n, labels(n) AS known
  UNWIND [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IN known] AS at
  RETURN at, n[$suspects[at].key] AS value, n[$suspects[at].country] AS country,
    [p IN $suspects[at].places | left(coalesce(toStringOrNull(n[p]), ''), 100)] AS places
  UNION ALL
  WITH [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IS NULL] AS places_of
  WHERE NOT isEmpty(places_of)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(i IN places_of WHERE $suspects[i].type = type(r))
  UNWIND [i IN places_of WHERE $suspects[i].type = type(r)] AS at
  RETURN at, r[$suspects[at].key] AS value, r[$suspects[at].country] AS country,
    [p IN $suspects[at].places | left(coalesce(toStringOrNull(r[p]), ''), 100)] AS places
}
WITH at, country, places, value
WHERE value IS :: STRING NOT NULL OR value IS :: INTEGER NOT NULL
WITH at, left(trim(coalesce(toStringOrNull(country), '')), 100) AS country, places, trim(toString(value)) AS text
WHERE text =~ '[0-9]+'
WITH at, country, places, text, head([pair IN $suspects[at].lengths WHERE pair[0] = country | pair[1]]) AS length
WHERE size(text) < length OR (size(text) = length AND text STARTS WITH '0')
RETURN at, country, places, text, count(*) AS times
ORDER BY at, country, text, places
LIMIT 200000
