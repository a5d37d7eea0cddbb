// chunk-triples: given chunks with all ids that they have, and their relations that name no source themselves: those that join two
// entities of the chunk. Relations that name their sources are found by relation-sources.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of chunks
//
// returns: element_id STRING, names LIST OF STRING, relations LIST OF STRING
// mode: read
MATCH (c)
WHERE elementId(c) IN $ids
CALL (c) {
  MATCH (c)-[m:@MENTION]-(e)
  WHERE @is(e, Entity)
  WITH collect(DISTINCT e) AS entities
  UNWIND entities AS a
  MATCH (a)-[r:@RELATION]->(b)
  WHERE b IN entities
    AND NOT any(s IN @sources(r, Relation)
      WHERE s <> '' AND NOT s IN @placeholder_values)
  RETURN collect(elementId(r)) AS relations
}
RETURN elementId(c) AS element_id, [elementId(c)] + [k IN @chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])] AS names, relations
