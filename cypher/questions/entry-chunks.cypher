// entry-chunks: every chunk that has text: its own id, its element id, its document and the text (streamed).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: id STRING, element_id STRING, document STRING, text STRING
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
WITH c, head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS text
WHERE text IS NOT NULL AND trim(text) <> ''
CALL (c) {
  OPTIONAL MATCH (c)-[d]-(doc)
  WHERE type(d) IN $layout.chunk_document_types AND any(l IN labels(doc) WHERE l IN $layout.document_labels)
  RETURN min(coalesce(toStringOrNull(doc[$layout.document_key]), elementId(doc))) AS document
}
RETURN coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id, elementId(c) AS element_id, document, text
