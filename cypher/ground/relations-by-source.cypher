// relations-by-source: how many relations come from each chunk, of those that name one chunk or none.
// Without sources of its own a relation comes from the chunks that mention both its ends.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param types => ['KNOWS']        -- LIST OF STRING: types to count apart; null = all together
//
// returns: ids LIST OF STRING, type STRING, count INTEGER
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $layout.relation_types
  AND ($layout.relations_join_entities_only OR (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
    AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
    AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
WITH a, r, b, [s IN CASE
  WHEN r[$layout.relation_source_key] IS NULL THEN []
  WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
  ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values] AS own
CALL (a, b, own) {
  WITH a, b, own
  WHERE size(own) = 0
  MATCH (a)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
    AND EXISTS { MATCH (c)-[n]-(b) WHERE type(n) IN $layout.mention_types }
  RETURN collect(DISTINCT coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c))) AS shared
}
WITH a, r, b, CASE WHEN size(own) = 0 THEN shared ELSE own END AS ids
WHERE size(ids) < 2
RETURN ids, CASE WHEN left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) IN $types THEN left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) END AS type, count(*) AS count
