// dangling-source: source ids of entities and relations that name no chunk.
// The evidence that they point to is not in the database. Chunks that an importer had to make up (dangling) count as missing.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (c)
  WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
    AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
  RETURN coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id,
         CASE WHEN c.dangling = true THEN 0 ELSE 1 END AS chunk,
         COUNT {
           (c)-[m]-(e)
           WHERE type(m) IN $layout.mention_types AND any(l IN labels(e) WHERE l IN $layout.entity_labels)
         } AS entities, 0 AS relations, null AS first
  UNION ALL
  MATCH (e)
  WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
    AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
    AND $layout.entity_source_key IS NOT NULL
  UNWIND [s IN CASE
  WHEN e[$layout.entity_source_key] IS NULL THEN []
  WHEN e[$layout.entity_source_key] IS :: LIST<ANY> THEN [x IN e[$layout.entity_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(e[$layout.entity_source_key]))]
  ELSE [x IN split(toStringOrNull(e[$layout.entity_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values] AS id
  RETURN id, 0 AS chunk, 1 AS entities, 0 AS relations, left(@shown(e), 200) AS first
  UNION ALL
  MATCH (a)-[r]->(b)
  WHERE type(r) IN $layout.relation_types
    AND ($layout.relations_join_entities_only OR (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
      AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
      AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
      AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
    AND $layout.relation_source_key IS NOT NULL
  UNWIND [s IN CASE
  WHEN r[$layout.relation_source_key] IS NULL THEN []
  WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
  ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values] AS id
  RETURN id, 0 AS chunk, 0 AS entities, 1 AS relations, left(@shown(a), 200) AS first
}
WITH id, max(chunk) AS known, sum(entities) AS entities, sum(relations) AS relations, min(first) AS first
WHERE id IS NOT NULL AND entities + relations > 0
WITH id, known = 0 AS hit, entities, relations, first
ORDER BY entities + relations DESC, id
WITH count(*) AS total, sum(CASE WHEN hit THEN 1 ELSE 0 END) AS count,
     collect(CASE WHEN hit THEN {items: [{element_id: null, key: left(id, 200), name: left(id, 200), type: null, kind: 'chunk'}],
       why: 'named by ' + toString(entities) + ' entities and ' + toString(relations) + ' relations'
         + coalesce(', as by ' + first, '')} END)[..$sample] AS sample
RETURN count, total, sample
