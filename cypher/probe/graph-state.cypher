// graph-state: the database's id, and at most 100 nodes with what shows a change.
// Half of them are spread over all ids, half are the first ones. Labels, number of relations, and properties: their first 100 characters;
// of lists the type alone, so that no embedding is sent.
//
// returns: database STRING, nodes LIST OF LIST
// mode: read
CALL db.info() YIELD id AS database
CALL (*) { MATCH (n) RETURN count(n) AS total }
CALL (*) {
  MATCH (n) WITH elementId(n) AS id LIMIT 1
  RETURN collect(left(id, size(id) - size(last(split(id, ':')))))[0] AS prefix
}
CALL (*) {
  UNWIND range(0, total, 1 + total / 50) AS place
  MATCH (n) WHERE elementId(n) = prefix + toString(place)
  RETURN collect(n) AS spread
}
CALL (*) { MATCH (n) WITH n LIMIT 50 RETURN collect(n) AS begun }
RETURN database, [n IN spread + begun |
  [elementId(n), labels(n), COUNT { (n)--() }, [k IN keys(n) | [k, valueType(n[k]), left(toStringOrNull(n[k]), 100)]]]] AS nodes
