// entity-contexts: what given entities are joined to: neighbours with the relation name, and chunks.
// At most $most of each for an entity, so that a super-node costs no more than another entity.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 200              -- INTEGER: neighbours and chunks a entity at most
//
// returns: element_id STRING, neighbours LIST OF LIST, chunks LIST OF STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[r]-(o)
  WHERE type(r) IN $layout.relation_types AND o <> e
    AND ($layout.relations_join_entities_only OR any(l IN labels(o) WHERE l IN $layout.entity_labels))
  WITH r, o, e LIMIT $most
  RETURN collect(DISTINCT [elementId(o), CASE WHEN startNode(r) = e THEN '>' ELSE '<' END + coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r))]) AS neighbours
}
CALL (e) {
  MATCH (e)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  WITH c LIMIT $most
  RETURN collect(DISTINCT elementId(c)) AS linked
}
RETURN elementId(e) AS element_id, neighbours, linked + CASE
  WHEN e[$layout.entity_source_key] IS NULL THEN []
  WHEN e[$layout.entity_source_key] IS :: LIST<ANY> THEN [x IN e[$layout.entity_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(e[$layout.entity_source_key]))]
  ELSE [x IN split(toStringOrNull(e[$layout.entity_source_key]), $layout.source_separator) | trim(x)] END[..$most] AS chunks
