// chunk-texts: every chunk's text, one row a chunk (streamed; for counting tokens).
//
// returns: text STRING
// mode: read
MATCH (c:@Chunk)
WITH @text(c) AS text
WHERE text IS NOT NULL
RETURN text
