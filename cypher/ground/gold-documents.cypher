// gold-documents: every document (or chunk, where the graph has no documents) with all that it may be called.
//
// :param labels => ['Document']   -- LIST OF STRING: labels of documents, or of chunks
// :param keys => ['id', 'title']  -- LIST OF STRING: properties that hold a document's id, title or file
//
// returns: element_id STRING, names LIST OF STRING
// mode: read
MATCH (d:@Node)
WHERE any(l IN labels(d) WHERE l IN $labels)
RETURN elementId(d) AS element_id, [k IN $keys WHERE toStringOrNull(d[k]) IS NOT NULL | left(toStringOrNull(d[k]), 500)] AS names
