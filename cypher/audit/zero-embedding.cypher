// zero-embedding: embeddings that are all zero, or hold a number that is not finite.
// No search can find such a node by meaning, and its cosine with anything is not defined.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n)
  WHERE any(l IN labels(n) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(n) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(n))
    AND ($layout.scope_property IS NULL OR n[$layout.scope_property] = $layout.scope_value)
    AND $layout.embedding_key IS NOT NULL
  RETURN n, 'entity' AS kind, n[$layout.embedding_key] AS v
  UNION ALL
  MATCH (n)
  WHERE any(l IN labels(n) WHERE l IN $layout.chunk_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(n))
    AND ($layout.scope_property IS NULL OR n[$layout.scope_property] = $layout.scope_value)
    AND $layout.chunk_embedding_key IS NOT NULL
  RETURN n, 'chunk' AS kind, n[$layout.chunk_embedding_key] AS v
}
WITH n, kind, v WHERE (v IS :: LIST<FLOAT NOT NULL> NOT NULL OR v IS :: LIST<INTEGER NOT NULL> NOT NULL) AND size(v) > 0
WITH n, kind, reduce(s = 0.0, x IN v | s + x * x) AS square
WITH n, kind, square, NOT (0 < square < 1.0 / 0.0) AS bad
WITH count(*) AS total, collect(CASE WHEN bad THEN {n: n, kind: kind, square: square} END) AS hits
CALL (hits) {
  UNWIND hits AS hit
  WITH hit.n AS n, hit.kind AS kind, hit.square AS square
  WITH n, kind, square, @shown(n) AS name,
     head([k IN $layout.chunk_id_keys WHERE n[k] IS NOT NULL | toStringOrNull(n[k])]) AS id
  ORDER BY kind DESC, coalesce(name, id), elementId(n) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(n), kind: kind,
    key: left(CASE kind WHEN 'entity' THEN coalesce(toStringOrNull(n[$layout.key_property]), name, '') ELSE coalesce(id, elementId(n)) END, 200),
    name: left(CASE kind WHEN 'entity' THEN coalesce(name, '') ELSE coalesce(id, elementId(n)) END, 200),
    type: CASE kind WHEN 'entity' THEN @type(n) END}],
    why: CASE WHEN square = 0 THEN 'all numbers are zero' ELSE 'a number is not finite, or far too large' END}) AS sample
}
RETURN size(hits) AS count, total, sample
