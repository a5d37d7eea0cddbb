// gold-entity-sources: where given entities come from: chunks by link, chunk ids and documents by their own properties.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param keys => ['file_path']    -- LIST OF STRING: properties of entities that list files or document ids
//
// returns: element_id STRING, chunks LIST OF STRING, ids LIST OF STRING, files LIST OF STRING
// mode: read
MATCH (e) WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  RETURN collect(DISTINCT elementId(c)) AS chunks
}
RETURN elementId(e) AS element_id, chunks, @sources(e, Entity) AS ids,
  reduce(all = [], k IN $keys | all + CASE
    WHEN e[k] IS NULL THEN []
    WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] | toStringOrNull(x)]
    WHEN @source_separator IS NULL THEN [toStringOrNull(e[k])]
    ELSE [x IN split(toStringOrNull(e[k]), @source_separator) | trim(x)] END) AS files
