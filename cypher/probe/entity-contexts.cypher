// entity-contexts: what given entities are joined to: neighbours with the relation name, and chunks.
// At most $most of each for an entity, so that a super-node costs no more than another entity.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 200              -- INTEGER: neighbours and chunks a entity at most
//
// returns: element_id STRING, neighbours LIST OF LIST, chunks LIST OF STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND @is(o, Endpoint)
  WITH r, o, e LIMIT $most
  RETURN collect(DISTINCT [elementId(o), CASE WHEN startNode(r) = e THEN '>' ELSE '<' END + @label(r)]) AS neighbours
}
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  WITH c LIMIT $most
  RETURN collect(DISTINCT elementId(c)) AS linked
}
RETURN elementId(e) AS element_id, neighbours, linked + @sources(e, Entity)[..$most] AS chunks
