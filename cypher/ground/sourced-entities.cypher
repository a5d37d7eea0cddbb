// sourced-entities: entities that come from given chunks, or all that come from several; names and sources only (streamed).
//
// :param passages => ['c1']       -- LIST OF STRING: ids and element ids of chunks; null = those with several sources
//
// returns: element_id STRING, key LIST OF STRING, type STRING, ids LIST OF STRING
// mode: read
MATCH (e:@Entity)
WHERE @shown(e) IS NOT NULL
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  RETURN collect(DISTINCT @ref(c)) AS linked
}
WITH e, linked + [x IN @named_sources(e, Entity) WHERE NOT x IN linked] AS ids
WHERE CASE WHEN $passages IS NULL THEN size(ids) > 1 ELSE any(id IN ids WHERE id IN $passages) END
RETURN elementId(e) AS element_id, [left(@shown(e), 300), left(@type(e), 200)] AS key, left(@type(e), 200) AS type, ids
