// gold-chunks: the chunks of given documents, by element id and by the id that source lists use.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of documents
//
// returns: document STRING, chunk STRING, id STRING
// mode: read
MATCH (d) WHERE elementId(d) IN $ids
MATCH (d)-[m:@IN_DOCUMENT]-(c)
WHERE @is(c, Chunk)
RETURN DISTINCT elementId(d) AS document, elementId(c) AS chunk,
       @id(c) AS id
