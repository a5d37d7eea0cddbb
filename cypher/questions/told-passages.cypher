// told-passages: chunks by their element ids, in that order, with all documents that they are of; longest texts are cut.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of chunks
//
// returns: id STRING, documents LIST OF STRING, text STRING
// mode: read
UNWIND range(0, size($ids) - 1) AS at
MATCH (c) WHERE elementId(c) = $ids[at]
CALL (c) {
  OPTIONAL MATCH (c)-[d]-(doc)
  WHERE type(d) IN $layout.chunk_document_types AND any(l IN labels(doc) WHERE l IN $layout.document_labels)
  WITH DISTINCT coalesce(toStringOrNull(doc[$layout.document_key]), elementId(doc)) AS document
  ORDER BY document
  RETURN collect(document) AS documents
}
RETURN coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id, documents,
       left(head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), 50000) AS text
ORDER BY at
