// chunk-triples: the relations that come from given chunks, one row a chunk that the graph knows.
// Starts at the chunks: the relations of a chunk's entities that name it as their source, or, without sources, that join two of them.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['c1']            -- LIST OF STRING: ids or element ids of chunks
//
// returns: given LIST OF STRING, triples LIST OF ANY
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
WITH c, [elementId(c)] + [k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])] AS names
WHERE any(x IN names WHERE x IN $ids)
CALL (c, names) {
  MATCH (c)-[m]-(a)-[r]->(b)
  WHERE type(m) IN $layout.mention_types AND type(r) IN $layout.relation_types
    AND any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR ($layout.scope_label IN labels(a) AND $layout.scope_label IN labels(b)))
    AND ($layout.scope_property IS NULL OR (a[$layout.scope_property] = $layout.scope_value AND b[$layout.scope_property] = $layout.scope_value))
  WITH DISTINCT c, names, a, r, b
  WITH c, names, a, r, b, [s IN CASE
    WHEN r[$layout.relation_source_key] IS NULL THEN []
    WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
    WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
    ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values] AS own
  WHERE any(s IN own WHERE s IN names)
    OR (size(own) = 0 AND EXISTS { MATCH (c)-[n]-(b) WHERE type(n) IN $layout.mention_types })
  WITH r, left(head([k IN $layout.name_keys WHERE a[k] IS NOT NULL | toStringOrNull(a[k])]), 300) AS head,
       left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS predicate,
       left(head([k IN $layout.name_keys WHERE b[k] IS NOT NULL | toStringOrNull(b[k])]), 300) AS tail
  ORDER BY elementId(r)
  RETURN collect([elementId(r), head, predicate, tail]) AS triples
}
RETURN [x IN names WHERE x IN $ids] AS given, triples
