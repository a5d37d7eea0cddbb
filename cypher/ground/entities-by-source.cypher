// entities-by-source: how many entities come from each chunk, of those that come from one chunk or none.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param types => ['KNOWS']        -- LIST OF STRING: types to count apart; null = all together
//
// returns: ids LIST OF STRING, type STRING, count INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  AND @shown(e) IS NOT NULL
CALL (e) {
  MATCH (e)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  RETURN collect(DISTINCT coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c))) AS linked
}
WITH e, linked + [x IN [s IN CASE
  WHEN e[$layout.entity_source_key] IS NULL THEN []
  WHEN e[$layout.entity_source_key] IS :: LIST<ANY> THEN [x IN e[$layout.entity_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(e[$layout.entity_source_key]))]
  ELSE [x IN split(toStringOrNull(e[$layout.entity_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values] WHERE NOT x IN linked] AS ids
WHERE size(ids) < 2
RETURN ids, CASE WHEN left(@type(e), 200) IN $types THEN left(@type(e), 200) END AS type, count(*) AS count
