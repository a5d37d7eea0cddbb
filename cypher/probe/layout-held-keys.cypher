// layout-held-keys: which properties of a layout some node or relation of their role has. A database never forgets the name of a property, so that its list of names does not say it.
//
// The lists stand in a map: a server plans a query anew for lists of another length.
//
// :param layout => {...}                                                    -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param keys => {entity: ['type'], chunk: ['index'], relation: ['weight']} -- MAP: properties of entities, of chunks, of relations
//
// returns: role STRING, key STRING
// mode: read
UNWIND $keys.entity AS key
CALL (key) {
  MATCH (e)
  WHERE e[key] IS NOT NULL AND @is(e, Entity)
  RETURN e LIMIT 1
}
RETURN 'entity' AS role, key
UNION ALL
UNWIND $keys.chunk AS key
CALL (key) {
  MATCH (c)
  WHERE c[key] IS NOT NULL AND @is(c, Chunk)
  RETURN c LIMIT 1
}
RETURN 'chunk' AS role, key
UNION ALL
UNWIND $keys.relation AS key
CALL (key) {
  MATCH ()-[r]->()
  WHERE r[key] IS NOT NULL AND @is(r, Relation)
  RETURN r LIMIT 1
}
RETURN 'relation' AS role, key
