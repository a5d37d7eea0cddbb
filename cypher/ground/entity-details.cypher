// entity-details: what is known of given entities: name, type, aliases, description, and a few relations as text.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 5                -- INTEGER: relations an entity at most
//
// returns: element_id STRING, key STRING, name STRING, type STRING, description STRING, relations LIST OF STRING, passages LIST OF STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
CALL (e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND @is(o, Endpoint)
  WITH r, startNode(r) AS a, endNode(r) AS b
  LIMIT 1000
  WITH left(@shown(a), 300) + ' -[' + left(@label(r), 200) + ']-> ' + left(@shown(b), 300) AS said
  ORDER BY said
  LIMIT $most
  RETURN collect(said) AS relations
}
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  RETURN collect(DISTINCT @ref(c)) AS linked
}
WITH e, relations, linked + [x IN @named_sources(e, Entity) WHERE NOT x IN linked] AS ids
RETURN elementId(e) AS element_id, left(coalesce(@key(e), left(@shown(e), 300)), 300) AS key, left(@shown(e), 300) AS name, left(@type(e), 200) AS type,
       left(@description(e, Entity), 1000) AS description, relations, ids[..50] AS passages
