// zero-embedding: embeddings that are all zero, or hold a number that is not finite.
// No search can find such a node by meaning, and its cosine with anything is not defined.
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
  RETURN n, 'entity' AS kind, n.@embedding_key AS v
  UNION ALL
  MATCH (n:@Chunk)
  WHERE @chunk_embedding_key IS NOT NULL
  RETURN n, 'chunk' AS kind, n.@chunk_embedding_key AS v
  UNION ALL
  WITH $vector_places AS places WHERE size(places) > 0
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(p IN places WHERE p.label = l))
  WITH n, [p IN places WHERE p.label IN labels(n)] AS near, @kind(labels(n)) AS type
  UNWIND CASE WHEN any(p IN near WHERE p.label = type) THEN [p IN near WHERE p.label = type] ELSE near END AS place
  RETURN n, place.label AS kind, n[place.key] AS v
}
WITH n, kind, v WHERE (v IS :: LIST<FLOAT NOT NULL> NOT NULL OR v IS :: LIST<INTEGER NOT NULL> NOT NULL) AND size(v) > 0
WITH n, kind, reduce(s = 0.0, x IN v | s + x * x) AS square
WITH n, kind, square, NOT (0 < square < 1.0 / 0.0) AS bad
WITH count(*) AS total, collect(CASE WHEN bad THEN {n: n, kind: kind, square: square} END) AS hits
CALL (hits) {
  UNWIND hits AS hit
  WITH hit.n AS n, hit.kind AS kind, hit.square AS square
  WITH n, kind, square, @shown(n) AS name,
     @id(n) AS id
  ORDER BY kind DESC, coalesce(name, id), elementId(n) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(n), kind: CASE kind WHEN 'chunk' THEN 'chunk' ELSE 'entity' END,
    key: left(CASE kind WHEN 'chunk' THEN coalesce(id, elementId(n)) WHEN 'entity' THEN coalesce(@key(n), @display(n))
      ELSE coalesce(@key(n), name, id, elementId(n)) END, 200),
    name: left(CASE kind WHEN 'chunk' THEN coalesce(id, elementId(n)) WHEN 'entity' THEN @display(n)
      ELSE coalesce(name, id, elementId(n)) END, 200),
    type: CASE kind WHEN 'chunk' THEN null WHEN 'entity' THEN @type(n) ELSE kind END}],
    why: CASE WHEN square = 0 THEN 'all numbers are zero' ELSE 'a number is not finite, or far too large' END}) AS sample
}
RETURN size(hits) AS count, total, sample
