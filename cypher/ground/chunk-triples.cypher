// chunk-triples: given chunks with all ids that they have, and their relations that name no source themselves: those that join two
// entities of the chunk. Relations that name their sources are found by relation-sources.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of chunks
//
// returns: element_id STRING, names LIST OF STRING, relations LIST OF STRING
// mode: read
MATCH (c)
WHERE elementId(c) IN $ids
CALL (c) {
  MATCH (c)-[m]-(e)
  WHERE type(m) IN $layout.mention_types
    AND any(l IN labels(e) WHERE l IN $layout.entity_labels) AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
    AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  WITH collect(DISTINCT e) AS entities
  UNWIND entities AS a
  MATCH (a)-[r]->(b)
  WHERE type(r) IN $layout.relation_types AND b IN entities
    AND NOT any(s IN CASE
      WHEN r[$layout.relation_source_key] IS NULL THEN []
      WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
      WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
      ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END
      WHERE s <> '' AND NOT s IN $layout.placeholder_values)
  RETURN collect(elementId(r)) AS relations
}
RETURN elementId(c) AS element_id, [elementId(c)] + [k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])] AS names, relations
