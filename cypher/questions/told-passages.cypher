// told-passages: chunks by their element ids, in that order, with all documents that they are of; longest texts are cut.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of chunks
//
// returns: id STRING, documents LIST OF STRING, text STRING
// mode: read
UNWIND range(0, size($ids) - 1) AS at
MATCH (c) WHERE elementId(c) = $ids[at]
CALL (c) {
  OPTIONAL MATCH (c)-[d:@IN_DOCUMENT]-(doc)
  WHERE @is(doc, Document)
  WITH DISTINCT coalesce(toStringOrNull(doc.@document_key), elementId(doc)) AS document
  ORDER BY document
  RETURN collect(document) AS documents
}
RETURN @ref(c) AS id, documents,
       left(@text(c), 50000) AS text
ORDER BY at
