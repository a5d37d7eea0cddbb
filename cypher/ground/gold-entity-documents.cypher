// gold-entity-documents: the documents that given entities come from, by the links of the layout; their chunks where the graph has no documents.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
//
// returns: element_id STRING, documents LIST OF STRING
// mode: read
MATCH (e) WHERE elementId(e) IN $ids
MATCH (e)-[m]-(c)
WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
OPTIONAL MATCH (c)-[p]-(d)
WHERE type(p) IN $layout.chunk_document_types AND any(l IN labels(d) WHERE l IN $layout.document_labels)
WITH e, CASE WHEN $layout.document_labels = [] THEN c ELSE d END AS source
WHERE source IS NOT NULL
RETURN elementId(e) AS element_id, collect(DISTINCT elementId(source)) AS documents
