// look-at-document-chunks: documents with their chunks in order of their places, and how each text begins.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the documents, as the finding lists them
//
// returns: element_id STRING, document STRING, chunk STRING, place INTEGER, text STRING
// mode: read
MATCH (d:@Document)
WHERE elementId(d) IN $element_ids
OPTIONAL MATCH (d)-[r:@IN_DOCUMENT]-(c)
WHERE @is(c, Chunk)
WITH DISTINCT d, c
RETURN elementId(d) AS element_id, @document(d) AS document, @ref(c) AS chunk, toIntegerOrNull(c.@chunk_index_key) AS place,
  left(@text(c), 200) AS text
ORDER BY document, place, chunk
