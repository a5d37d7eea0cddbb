// document-chunks: the chunks of every document with their texts, document by document, in their order (streamed).
// A chunk without an index comes after those with one; chunks without a document come last, with null.
//
// returns: document STRING, id STRING, text STRING
// mode: read
MATCH (c:@Chunk)
CALL (c) {
  OPTIONAL MATCH (c)-[d:@IN_DOCUMENT]-(doc)
  WHERE @is(doc, Document)
  RETURN min(coalesce(toStringOrNull(doc.@document_key), elementId(doc))) AS document
}
WITH c, document, @ref(c) AS id
ORDER BY document, c.@chunk_index_key, id
RETURN document, id, @text(c) AS text
