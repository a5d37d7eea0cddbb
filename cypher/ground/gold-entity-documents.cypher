// gold-entity-documents: the documents that given entities come from, by the links of the layout; their chunks where the graph has no documents.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
//
// returns: element_id STRING, documents LIST OF STRING
// mode: read
MATCH (e) WHERE elementId(e) IN $ids
MATCH (e)-[m:@MENTION]-(c)
WHERE @is(c, Chunk)
OPTIONAL MATCH (c)-[p:@IN_DOCUMENT]-(d)
WHERE @is(d, Document)
WITH e, CASE WHEN @document_labels = [] THEN c ELSE d END AS source
WHERE source IS NOT NULL
RETURN elementId(e) AS element_id, collect(DISTINCT elementId(source)) AS documents
