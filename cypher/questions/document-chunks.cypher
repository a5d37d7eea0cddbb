// document-chunks: the chunks of every document with their texts, document by document, in their order (streamed).
// A chunk without an index comes after those with one; chunks without a document come last, with null.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: document STRING, id STRING, text STRING
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
CALL (c) {
  OPTIONAL MATCH (c)-[d]-(doc)
  WHERE type(d) IN $layout.chunk_document_types AND any(l IN labels(doc) WHERE l IN $layout.document_labels)
  RETURN min(coalesce(toStringOrNull(doc[$layout.document_key]), elementId(doc))) AS document
}
WITH c, document, coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id
ORDER BY document, c[$layout.chunk_index_key], id
RETURN document, id, head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS text
