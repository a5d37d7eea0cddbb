// look-at-chunks: the texts of chunks.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the chunks, as the finding lists them
//
// returns: element_id STRING, id STRING, text STRING
// mode: read
MATCH (c)
WHERE elementId(c) IN $element_ids
  AND @is(c, Chunk)
RETURN elementId(c) AS element_id, head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS id,
  head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS text
