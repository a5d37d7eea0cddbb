// chunk-sources: every chunk's text with its element id and its own id (streamed).
//
// :param texts => true            -- BOOLEAN: false leaves the texts out
//
// returns: element_id STRING, id STRING, text STRING
// mode: read
MATCH (c:@Chunk)
WITH c, @text(c) AS text
WHERE text IS NOT NULL AND text <> ''
RETURN elementId(c) AS element_id, @id(c) AS id, CASE WHEN $texts THEN text END AS text
