// missing-embedding: entities and chunks without an embedding, in a graph where others of their kind have one.
// Where no entity at all (or no chunk) has one, that kind is left out: then the writer makes none.
// Where chunks keep their texts, nodes without one are stand-ins (LlamaIndex writes one a document) and are left out.
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
  WITH n, n[$layout.embedding_key] AS v
  RETURN 'entity' AS kind, count(*) AS nodes, collect(CASE WHEN v IS NULL OR CASE WHEN v IS :: LIST<ANY> THEN isEmpty(v) END THEN n END) AS lacking
  UNION ALL
  MATCH (n)
  WHERE any(l IN labels(n) WHERE l IN $layout.chunk_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(n))
    AND ($layout.scope_property IS NULL OR n[$layout.scope_property] = $layout.scope_value)
    AND $layout.chunk_embedding_key IS NOT NULL
    AND (size($layout.chunk_text_keys) = 0 OR any(k IN $layout.chunk_text_keys WHERE n[k] IS NOT NULL))
  WITH n, n[$layout.chunk_embedding_key] AS v
  RETURN 'chunk' AS kind, count(*) AS nodes, collect(CASE WHEN v IS NULL OR CASE WHEN v IS :: LIST<ANY> THEN isEmpty(v) END THEN n END) AS lacking
}
WITH kind, nodes, lacking WHERE size(lacking) < nodes
WITH sum(nodes) AS total, sum(size(lacking)) AS count, collect({kind: kind, lacking: lacking}) AS kinds
CALL (kinds) {
  UNWIND kinds AS one
  UNWIND one.lacking AS n
  WITH one.kind AS kind, n, @shown(n) AS name,
     head([k IN $layout.chunk_id_keys WHERE n[k] IS NOT NULL | toStringOrNull(n[k])]) AS id, COUNT { (n)--() } AS links
  ORDER BY kind DESC, links DESC, coalesce(name, id), elementId(n) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(n), kind: kind,
    key: left(CASE kind WHEN 'entity' THEN coalesce(toStringOrNull(n[$layout.key_property]), name, '') ELSE coalesce(id, elementId(n)) END, 200),
    name: left(CASE kind WHEN 'entity' THEN coalesce(name, '') ELSE coalesce(id, elementId(n)) END, 200),
    type: CASE kind WHEN 'entity' THEN @type(n) END}],
    why: toString(links) + CASE links WHEN 1 THEN ' link' ELSE ' links' END}) AS sample
}
RETURN count, total, sample
