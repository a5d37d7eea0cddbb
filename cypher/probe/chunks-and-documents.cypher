// chunks-and-documents: how many chunks and documents the graph holds, and how many chunks carry text.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: chunks INTEGER, chunks_with_text INTEGER, documents INTEGER
// mode: read
OPTIONAL MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels OR l IN $layout.document_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
RETURN sum(CASE WHEN any(l IN labels(c) WHERE l IN $layout.chunk_labels) THEN 1 ELSE 0 END) AS chunks,
       sum(CASE WHEN any(l IN labels(c) WHERE l IN $layout.chunk_labels)
                 AND any(k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL AND c[k] <> '') THEN 1 ELSE 0 END) AS chunks_with_text,
       sum(CASE WHEN any(l IN labels(c) WHERE l IN $layout.document_labels) THEN 1 ELSE 0 END) AS documents
