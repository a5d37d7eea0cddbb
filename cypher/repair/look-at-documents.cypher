// look-at-documents: what entities are related to, by document, to see which of it belongs together. Split by hand.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them
//
// returns: entity STRING, document STRING, relation STRING, neighbour STRING
// mode: read
MATCH (e)-[r]-(o)
WHERE elementId(e) IN $element_ids AND o <> e
  AND @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
OPTIONAL MATCH (o)-[m:@MENTION]-(c)-[d]-(doc)
WHERE @is(d, IN_DOCUMENT)
  AND @is(doc, Document)
  AND @is(c, Chunk)
RETURN DISTINCT @name(e) AS entity, toStringOrNull(doc.@document_key) AS document, @label(r) AS relation, @name(o) AS neighbour
ORDER BY entity, document, relation, neighbour
