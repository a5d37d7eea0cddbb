// embedding-dimension: embeddings that have not the length of the vector index, or of most others of their kind.
// Such vectors come from another model. What is stored in their place and is no list of numbers is listed too.
//
// :param sample => 5              -- INTEGER: examples to return
// :param apart => []              -- LIST OF STRING: labels of entities that are looked at each for itself
// :param vector_places => []      -- LIST OF MAP: {label, key}: of these and others, labels with embeddings, and the property
// :param dimensions => {}         -- MAP: length by kind, entity and chunk, where a vector index tells it; else that of most
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
WITH n, kind, v WHERE v IS NOT NULL
WITH n, kind, CASE WHEN (v IS :: LIST<FLOAT NOT NULL> NOT NULL OR v IS :: LIST<INTEGER NOT NULL> NOT NULL) THEN size(v) ELSE -1 END AS length
WHERE length <> 0
WITH kind, length, collect(n) AS nodes
ORDER BY kind, size(nodes) DESC, length DESC
WITH kind, collect({length: length, nodes: nodes}) AS groups
WITH kind, groups, coalesce($dimensions[kind], head([g IN groups WHERE g.length > 0 | g.length])) AS wanted
UNWIND groups AS g
WITH kind, wanted, g.length AS length, g.nodes AS nodes
WITH sum(size(nodes)) AS total, collect(CASE WHEN wanted IS NULL OR length <> wanted THEN {kind: kind, wanted: wanted, length: length, nodes: nodes} END) AS others
CALL (others) {
  UNWIND others AS other
  UNWIND other.nodes AS n
  WITH n, other.kind AS kind, other.length AS length, other.wanted AS wanted
  WITH n, kind, length, wanted, @shown(n) AS name,
     @id(n) AS id
  ORDER BY kind DESC, coalesce(name, id), elementId(n) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(n), kind: CASE kind WHEN 'chunk' THEN 'chunk' ELSE 'entity' END,
    key: left(CASE kind WHEN 'chunk' THEN coalesce(id, elementId(n)) WHEN 'entity' THEN coalesce(@key(n), @display(n))
      ELSE coalesce(@key(n), name, id, elementId(n)) END, 200),
    name: left(CASE kind WHEN 'chunk' THEN coalesce(id, elementId(n)) WHEN 'entity' THEN @display(n)
      ELSE coalesce(name, id, elementId(n)) END, 200),
    type: CASE kind WHEN 'chunk' THEN null WHEN 'entity' THEN @type(n) ELSE kind END}],
    why: CASE WHEN length < 0 THEN 'no list of numbers' ELSE toString(length) + ' numbers, not ' + toString(wanted) END}) AS sample
}
RETURN reduce(s = 0, other IN others | s + size(other.nodes)) AS count, total, sample
