// look-at-chunks: the texts of chunks.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the chunks, as the finding lists them
//
// returns: element_id STRING, id STRING, text STRING
// mode: read
MATCH (c:@Chunk)
WHERE elementId(c) IN $element_ids
RETURN elementId(c) AS element_id, @id(c) AS id,
  @text(c) AS text
