// sample-sources: the chunks that every named entity comes from, ids only (streamed).
//
// returns: element_id STRING, chunks LIST OF STRING
// mode: read
MATCH (e:@Entity)
WHERE trim(coalesce(@shown(e), '')) <> ''
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  RETURN collect(DISTINCT @ref(c)) AS linked
}
RETURN elementId(e) AS element_id, linked + [x IN @named_sources(e, Entity) WHERE NOT x IN linked] AS chunks
