// layout-held-keys: which properties of a layout some node or relation of their role has. A database never forgets the name of a property, so that its list of names does not say it.
// Most stand on one of the first nodes or relations; only those that do not are looked for on all, together. Where a list is empty, nothing is read.
//
// The lists stand in a map: a server plans a query anew for lists of another length.
//
// :param keys => {entity: ['type'], chunk: ['index'], relation: ['weight']} -- MAP: properties of entities, of chunks, of relations
//
// returns: role STRING, key STRING
// mode: read
CALL () {
  WITH $keys.entity AS keys
  WHERE size(keys) > 0
  MATCH (e:@Entity)
  WITH keys, e LIMIT 1000
  UNWIND [key IN keys WHERE e[key] IS NOT NULL] AS key
  RETURN collect(DISTINCT key) AS early
}
CALL (early) {
  WITH [key IN $keys.entity WHERE NOT key IN early] AS left
  WHERE size(left) > 0
  MATCH (e:@Entity)
  UNWIND [key IN left WHERE e[key] IS NOT NULL] AS key
  RETURN collect(DISTINCT key) AS late
}
UNWIND early + late AS key
RETURN 'entity' AS role, key
UNION ALL
CALL () {
  WITH $keys.chunk AS keys
  WHERE size(keys) > 0
  MATCH (c:@Chunk)
  WITH keys, c LIMIT 1000
  UNWIND [key IN keys WHERE c[key] IS NOT NULL] AS key
  RETURN collect(DISTINCT key) AS early
}
CALL (early) {
  WITH [key IN $keys.chunk WHERE NOT key IN early] AS left
  WHERE size(left) > 0
  MATCH (c:@Chunk)
  UNWIND [key IN left WHERE c[key] IS NOT NULL] AS key
  RETURN collect(DISTINCT key) AS late
}
UNWIND early + late AS key
RETURN 'chunk' AS role, key
UNION ALL
CALL () {
  WITH $keys.relation AS keys
  WHERE size(keys) > 0
  MATCH ()-[r]->()
  WHERE @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
  WITH keys, r LIMIT 1000
  UNWIND [key IN keys WHERE r[key] IS NOT NULL] AS key
  RETURN collect(DISTINCT key) AS early
}
CALL (early) {
  WITH [key IN $keys.relation WHERE NOT key IN early] AS left
  WHERE size(left) > 0
  MATCH ()-[r]->()
  // the properties before the role: most relations have none of them, and the role asks for both ends
  WITH r, [key IN left WHERE r[key] IS NOT NULL] AS held
  WHERE size(held) > 0
  WITH r, held
  WHERE @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
  UNWIND held AS key
  RETURN collect(DISTINCT key) AS late
}
UNWIND early + late AS key
RETURN 'relation' AS role, key
