// structure-nodes: what is known of given entities: name, type, description, aliases, and the chunks that they come from.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 50               -- INTEGER: chunks an entity at most
//
// returns: element_id STRING, key STRING, name STRING, type STRING, description STRING, aliases LIST OF STRING, chunks LIST OF STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  WITH DISTINCT coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id
  ORDER BY id
  LIMIT $most
  RETURN collect(id) AS linked
}
WITH e, linked + [x IN [s IN CASE
  WHEN e[$layout.entity_source_key] IS NULL THEN []
  WHEN e[$layout.entity_source_key] IS :: LIST<ANY> THEN [x IN e[$layout.entity_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(e[$layout.entity_source_key]))]
  ELSE [x IN split(toStringOrNull(e[$layout.entity_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values] WHERE NOT x IN linked] AS chunks
RETURN elementId(e) AS element_id, left(coalesce(toStringOrNull(e[$layout.key_property]), @shown(e)), 300) AS key,
       left(@shown(e), 300) AS name, left(@type(e), 200) AS type,
       left(@description(e, Entity), 2000) AS description,
       reduce(all = [], k IN $layout.alias_keys | all + CASE
         WHEN e[k] IS NULL THEN []
         WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] WHERE toStringOrNull(x) IS NOT NULL | left(toStringOrNull(x), 300)][..50]
         ELSE [left(toStringOrNull(e[k]), 300)] END) AS aliases,
       chunks[..$most] AS chunks
