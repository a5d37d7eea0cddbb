// layout-held-keys: which properties of a layout some node or relation of their role has. A database never forgets the name of a property, so that its list of names does not say it.
//
// :param layout => {...}               -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param entity_keys => ['type']       -- LIST OF STRING: properties of entities
// :param chunk_keys => ['index']       -- LIST OF STRING: properties of chunks
// :param relation_keys => ['weight']   -- LIST OF STRING: properties of relations
//
// returns: role STRING, key STRING
// mode: read
UNWIND $entity_keys AS key
CALL (key) {
  MATCH (e)
  WHERE e[key] IS NOT NULL AND any(l IN labels(e) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
    AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  RETURN e LIMIT 1
}
RETURN 'entity' AS role, key
UNION ALL
UNWIND $chunk_keys AS key
CALL (key) {
  MATCH (c)
  WHERE c[key] IS NOT NULL AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  RETURN c LIMIT 1
}
RETURN 'chunk' AS role, key
UNION ALL
UNWIND $relation_keys AS key
CALL (key) {
  MATCH ()-[r]->()
  WHERE type(r) IN $layout.relation_types AND r[key] IS NOT NULL
  RETURN r LIMIT 1
}
RETURN 'relation' AS role, key
