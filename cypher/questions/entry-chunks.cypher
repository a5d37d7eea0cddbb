// entry-chunks: every chunk that has text: its own id, its element id, its document and the text (streamed).
//
// returns: id STRING, element_id STRING, document STRING, text STRING
// mode: read
MATCH (c:@Chunk)
WITH c, @text(c) AS text
WHERE text IS NOT NULL AND trim(text) <> ''
CALL (c) {
  OPTIONAL MATCH (c)-[d:@IN_DOCUMENT]-(doc)
  WHERE @is(doc, Document)
  RETURN min(coalesce(toStringOrNull(doc.@document_key), elementId(doc))) AS document
}
RETURN @ref(c) AS id, elementId(c) AS element_id, document, text
