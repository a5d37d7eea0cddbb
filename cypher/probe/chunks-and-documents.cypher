// chunks-and-documents: how many chunks and documents the graph holds, and how many chunks carry text.
//
// returns: chunks INTEGER, chunks_with_text INTEGER, documents INTEGER
// mode: read
OPTIONAL MATCH (c:@Node)
WHERE any(l IN labels(c) WHERE l IN @chunk_labels OR l IN @document_labels)
RETURN sum(CASE WHEN @is(c, Chunk) THEN 1 ELSE 0 END) AS chunks,
       sum(CASE WHEN @is(c, Chunk)
                 AND any(k IN @chunk_text_keys WHERE c[k] IS NOT NULL AND c[k] <> '') THEN 1 ELSE 0 END) AS chunks_with_text,
       sum(CASE WHEN @is(c, Document) THEN 1 ELSE 0 END) AS documents
