// entity-details: what is known of given entities: name, type, aliases, description, and a few relations as text.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 5                -- INTEGER: relations an entity at most
//
// returns: element_id STRING, key STRING, name STRING, type STRING, description STRING, relations LIST OF STRING, passages LIST OF STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[r]-(o)
  WHERE type(r) IN $layout.relation_types AND o <> e
    AND ($layout.relations_join_entities_only OR any(l IN labels(o) WHERE l IN $layout.entity_labels))
  WITH r, startNode(r) AS a, endNode(r) AS b
  LIMIT 1000
  WITH left(@shown(a), 300) + ' -[' + left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) + ']-> ' + left(@shown(b), 300) AS said
  ORDER BY said
  LIMIT $most
  RETURN collect(said) AS relations
}
CALL (e) {
  MATCH (e)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  RETURN collect(DISTINCT coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c))) AS linked
}
WITH e, relations, linked + [x IN [s IN CASE
  WHEN e[$layout.entity_source_key] IS NULL THEN []
  WHEN e[$layout.entity_source_key] IS :: LIST<ANY> THEN [x IN e[$layout.entity_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(e[$layout.entity_source_key]))]
  ELSE [x IN split(toStringOrNull(e[$layout.entity_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values] WHERE NOT x IN linked] AS ids
RETURN elementId(e) AS element_id, left(coalesce(toStringOrNull(e[$layout.key_property]), left(@shown(e), 300)), 300) AS key, left(@shown(e), 300) AS name, left(@type(e), 200) AS type,
       left(@description(e, Entity), 1000) AS description, relations, ids[..50] AS passages
