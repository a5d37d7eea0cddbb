// told-texts: every chunk's text with its ids, one row a chunk (streamed; a run's searches read all texts once).
//
// returns: element_id STRING, id STRING, text STRING
// mode: read
MATCH (c:@Chunk)
WITH c, @text(c) AS text
WHERE text IS NOT NULL
RETURN elementId(c) AS element_id, @ref(c) AS id, text
