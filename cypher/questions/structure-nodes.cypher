// structure-nodes: what is known of given entities: name, type, description, aliases, and the chunks that they come from.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 50               -- INTEGER: chunks an entity at most
//
// returns: element_id STRING, key STRING, name STRING, type STRING, description STRING, aliases LIST OF STRING, chunks LIST OF STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  WITH DISTINCT @ref(c) AS id
  ORDER BY id
  LIMIT $most
  RETURN collect(id) AS linked
}
WITH e, linked + [x IN @named_sources(e, Entity) WHERE NOT x IN linked] AS chunks
RETURN elementId(e) AS element_id, left(coalesce(@key(e), @shown(e)), 300) AS key,
       left(@shown(e), 300) AS name, left(@type(e), 200) AS type,
       left(@description(e, Entity), 2000) AS description,
       [x IN @aliases(e) | left(x, 300)][..50] AS aliases,
       chunks[..$most] AS chunks
