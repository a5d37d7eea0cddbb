// gold-chunks: the chunks of given documents, by element id and by the id that source lists use.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of documents
//
// returns: document STRING, chunk STRING, id STRING
// mode: read
MATCH (d) WHERE elementId(d) IN $ids
MATCH (d)-[m]-(c)
WHERE type(m) IN $layout.chunk_document_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
RETURN DISTINCT elementId(d) AS document, elementId(c) AS chunk,
       head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS id
