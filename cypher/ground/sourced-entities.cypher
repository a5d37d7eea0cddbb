// sourced-entities: entities that come from given chunks, or all that come from several; names and sources only (streamed).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param passages => ['c1']       -- LIST OF STRING: ids and element ids of chunks; null = those with several sources
//
// returns: element_id STRING, key LIST OF STRING, type STRING, ids LIST OF STRING
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
WHERE CASE WHEN $passages IS NULL THEN size(ids) > 1 ELSE any(id IN ids WHERE id IN $passages) END
RETURN elementId(e) AS element_id, [left(@shown(e), 300), left(@type(e), 200)] AS key, left(@type(e), 200) AS type, ids
