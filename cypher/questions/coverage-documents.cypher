// coverage-documents: the documents that are not in a list, with how many chunks each has and what it may be called.
// With an empty list: every document.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param covered => []            -- LIST OF STRING: documents that a set of questions covers, by key (else element id)
// :param keys => ['id', 'title']  -- LIST OF STRING: properties that hold a document's id, title or file
//
// returns: document STRING, chunks INTEGER, names LIST OF STRING
// mode: read
MATCH (d)
WHERE any(l IN labels(d) WHERE l IN $layout.document_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(d))
  AND ($layout.scope_property IS NULL OR d[$layout.scope_property] = $layout.scope_value)
WITH d, coalesce(toStringOrNull(d[$layout.document_key]), elementId(d)) AS document
WHERE NOT document IN $covered
RETURN document, COUNT {
  MATCH (d)-[p]-(c)
  WHERE type(p) IN $layout.chunk_document_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
} AS chunks, [k IN $keys WHERE toStringOrNull(d[k]) IS NOT NULL | left(toStringOrNull(d[k]), 500)] AS names
ORDER BY chunks DESC, document
