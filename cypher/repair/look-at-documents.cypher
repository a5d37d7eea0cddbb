// look-at-documents: what entities are related to, by document, to see which of it belongs together. Split by hand.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them
//
// returns: entity STRING, document STRING, relation STRING, neighbour STRING
// mode: read
MATCH (e)-[r]-(o)
WHERE elementId(e) IN $element_ids AND o <> e
  AND @is(r, Relation)
OPTIONAL MATCH (o)-[m]-(c)-[d]-(doc)
WHERE type(m) IN $layout.mention_types AND type(d) IN $layout.chunk_document_types
  AND any(l IN labels(doc) WHERE l IN $layout.document_labels)
  AND @is(c, Chunk)
RETURN DISTINCT @name(e) AS entity, toStringOrNull(doc[$layout.document_key]) AS document, @label(r) AS relation, @name(o) AS neighbour
ORDER BY entity, document, relation, neighbour
