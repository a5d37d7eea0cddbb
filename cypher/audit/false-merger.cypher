// false-merger: entities that may be several things under one name: in several documents, or oddly labelled.
// The step after it joins the neighbours that share a document, are related or have another neighbour in common, and lists the
// entities whose neighbours fall apart. Only entities of $min_degree to $max_degree relations in 2 to $max_documents documents are looked at.
//
// :param min_degree => 4           -- INTEGER: fewest relations
// :param max_degree => 60          -- INTEGER: most relations
// :param max_documents => 6        -- INTEGER: a name in more documents is common knowledge
// :param rare_label_pairs => []    -- LIST OF LIST: pairs of labels that hardly ever stand on one entity
// :param max_entities => 3000      -- INTEGER: entities to look at, fewest documents first
//
// returns: element_id STRING, key STRING, name STRING, type STRING, labels LIST OF STRING, description STRING, documents LIST OF STRING, neighbours LIST OF MAP
// mode: read
MATCH (e:@Entity)
WITH e, COUNT {
  (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND @is(o, Endpoint)
} AS degree, any(p IN $rare_label_pairs WHERE p[0] IN labels(e) AND p[1] IN labels(e)) AS odd
WHERE odd OR $min_degree <= degree <= $max_degree
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)-[d]-(doc)
  WHERE @is(c, Chunk)
    AND @is(d, IN_DOCUMENT) AND @is(doc, Document)
  RETURN collect(DISTINCT elementId(doc)) AS documents
}
WITH e, odd, documents, @name(e) AS name
WHERE name IS NOT NULL AND (odd OR 2 <= size(documents) <= $max_documents)
ORDER BY size(documents), name, elementId(e)
LIMIT $max_entities
CALL (e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND @is(o, Endpoint)
  WITH DISTINCT o LIMIT $max_degree
  CALL (o) {
    MATCH (o)-[m:@MENTION]-(c)-[d]-(doc)
    WHERE @is(c, Chunk)
      AND @is(d, IN_DOCUMENT) AND @is(doc, Document)
    RETURN collect(DISTINCT elementId(doc)) AS seen
  }
  RETURN collect({element_id: elementId(o), name: left(@display(o), 200), documents: seen}) AS neighbours
}
RETURN elementId(e) AS element_id, left(coalesce(@key(e), name), 200) AS key, left(name, 200) AS name,
       @type(e) AS type,
       [l IN labels(e) WHERE NOT l IN @type_label_ignored] AS labels,
       left(@description(e, Entity), 5000) AS description,
       documents, neighbours
