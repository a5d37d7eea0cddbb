// coverage-documents: the documents that are not in a list, with how many chunks each has and what it may be called.
// With an empty list: every document.
//
// :param covered => []            -- LIST OF STRING: documents that a set of questions covers, by key (else element id)
// :param keys => ['id', 'title']  -- LIST OF STRING: properties that hold a document's id, title or file
//
// returns: document STRING, chunks INTEGER, names LIST OF STRING
// mode: read
MATCH (d:@Document)
WITH d, coalesce(toStringOrNull(d.@document_key), elementId(d)) AS document
WHERE NOT document IN $covered
RETURN document, COUNT {
  MATCH (d)-[p:@IN_DOCUMENT]-(c)
  WHERE @is(c, Chunk)
} AS chunks, [k IN $keys WHERE toStringOrNull(d[k]) IS NOT NULL | left(toStringOrNull(d[k]), 500)] AS names
ORDER BY chunks DESC, document
