// missing-embedding: entities and chunks without an embedding, in a graph where others of their kind have one.
// Where no entity at all (or no chunk) has one, that kind is left out: then the writer makes none.
// Where chunks keep their texts, nodes without one are stand-ins (LlamaIndex writes one a document) and are left out.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Entity)
  WHERE @embedding_key IS NOT NULL
  WITH n, n.@embedding_key AS v
  RETURN 'entity' AS kind, count(*) AS nodes, collect(CASE WHEN v IS NULL OR CASE WHEN v IS :: LIST<ANY> THEN isEmpty(v) END THEN n END) AS lacking
  UNION ALL
  MATCH (n:@Chunk)
  WHERE @chunk_embedding_key IS NOT NULL
    AND (size(@chunk_text_keys) = 0 OR any(k IN @chunk_text_keys WHERE n[k] IS NOT NULL))
  WITH n, n.@chunk_embedding_key AS v
  RETURN 'chunk' AS kind, count(*) AS nodes, collect(CASE WHEN v IS NULL OR CASE WHEN v IS :: LIST<ANY> THEN isEmpty(v) END THEN n END) AS lacking
}
WITH kind, nodes, lacking WHERE size(lacking) < nodes
WITH sum(nodes) AS total, sum(size(lacking)) AS count, collect({kind: kind, lacking: lacking}) AS kinds
CALL (kinds) {
  UNWIND kinds AS one
  UNWIND one.lacking AS n
  WITH one.kind AS kind, n, @shown(n) AS name,
     @id(n) AS id, COUNT { (n)--() } AS links
  ORDER BY kind DESC, links DESC, coalesce(name, id), elementId(n) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(n), kind: kind,
    key: left(CASE kind WHEN 'entity' THEN coalesce(@key(n), name, '') ELSE coalesce(id, elementId(n)) END, 200),
    name: left(CASE kind WHEN 'entity' THEN coalesce(name, '') ELSE coalesce(id, elementId(n)) END, 200),
    type: CASE kind WHEN 'entity' THEN @type(n) END}],
    why: toString(links) + CASE links WHEN 1 THEN ' link' ELSE ' links' END}) AS sample
}
RETURN count, total, sample
