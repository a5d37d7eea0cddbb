// missing-embedding: entities and chunks without an embedding, in a graph where others of their kind have one.
// Where no entity at all (or no chunk) has one, that kind is left out: then the writer makes none.
// Where chunks keep their texts, nodes without one are stand-ins (LlamaIndex writes one a document) and are left out.
//
// :param sample => 5              -- INTEGER: examples to return
// :param apart => []              -- LIST OF STRING: labels of entities that are looked at each for itself
// :param vector_places => []      -- LIST OF MAP: {label, key}: of these and others, labels with embeddings, and the property
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Entity)
  WHERE @embedding_key IS NOT NULL
    AND none(l IN labels(n) WHERE l IN $apart)
  WITH n, n.@embedding_key AS v
  RETURN 'entity' AS kind, count(*) AS nodes, collect(CASE WHEN v IS NULL OR CASE WHEN v IS :: LIST<ANY> THEN isEmpty(v) END THEN n END) AS lacking
  UNION ALL
  MATCH (n:@Chunk)
  WHERE @chunk_embedding_key IS NOT NULL
    AND (size(@chunk_text_keys) = 0 OR any(k IN @chunk_text_keys WHERE n[k] IS NOT NULL))
  WITH n, n.@chunk_embedding_key AS v
  RETURN 'chunk' AS kind, count(*) AS nodes, collect(CASE WHEN v IS NULL OR CASE WHEN v IS :: LIST<ANY> THEN isEmpty(v) END THEN n END) AS lacking
  UNION ALL
  WITH $vector_places AS places WHERE size(places) > 0
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(p IN places WHERE p.label = l))
  WITH n, [p IN places WHERE p.label IN labels(n)] AS near, @kind(labels(n)) AS type
  UNWIND CASE WHEN any(p IN near WHERE p.label = type) THEN [p IN near WHERE p.label = type] ELSE near END AS place
  WITH place.label AS kind, n, n[place.key] AS v
  RETURN kind, count(*) AS nodes, collect(CASE WHEN v IS NULL OR CASE WHEN v IS :: LIST<ANY> THEN isEmpty(v) END THEN n END) AS lacking
}
WITH kind, nodes, lacking WHERE size(lacking) < nodes
WITH sum(nodes) AS total, sum(size(lacking)) AS count, collect({kind: kind, lacking: lacking}) AS kinds
CALL (kinds) {
  UNWIND kinds AS one
  UNWIND one.lacking AS n
  WITH one.kind AS kind, n, @shown(n) AS name,
     @id(n) AS id, COUNT { (n)--() } AS links
  ORDER BY kind DESC, links DESC, coalesce(name, id), elementId(n) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(n), kind: CASE kind WHEN 'chunk' THEN 'chunk' ELSE 'entity' END,
    key: left(CASE kind WHEN 'chunk' THEN coalesce(id, elementId(n)) WHEN 'entity' THEN coalesce(@key(n), @display(n))
      ELSE coalesce(@key(n), name, id, elementId(n)) END, 200),
    name: left(CASE kind WHEN 'chunk' THEN coalesce(id, elementId(n)) WHEN 'entity' THEN @display(n)
      ELSE coalesce(name, id, elementId(n)) END, 200),
    type: CASE kind WHEN 'chunk' THEN null WHEN 'entity' THEN @type(n) ELSE kind END}],
    why: toString(links) + CASE links WHEN 1 THEN ' link' ELSE ' links' END}) AS sample
}
RETURN count, total, sample
