// gold-entity-sources: where given entities come from: chunks by link, chunk ids and documents by their own properties.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param keys => ['file_path']    -- LIST OF STRING: properties of entities that list files or document ids
//
// returns: element_id STRING, chunks LIST OF STRING, ids LIST OF STRING, files LIST OF STRING
// mode: read
MATCH (e) WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  RETURN collect(DISTINCT elementId(c)) AS chunks
}
RETURN elementId(e) AS element_id, chunks, CASE
  WHEN e[$layout.entity_source_key] IS NULL THEN []
  WHEN e[$layout.entity_source_key] IS :: LIST<ANY> THEN [x IN e[$layout.entity_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(e[$layout.entity_source_key]))]
  ELSE [x IN split(toStringOrNull(e[$layout.entity_source_key]), $layout.source_separator) | trim(x)] END AS ids,
  reduce(all = [], k IN $keys | all + CASE
    WHEN e[k] IS NULL THEN []
    WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] | toStringOrNull(x)]
    WHEN $layout.source_separator IS NULL THEN [toStringOrNull(e[k])]
    ELSE [x IN split(toStringOrNull(e[k]), $layout.source_separator) | trim(x)] END) AS files
