// sourced-relations: relations that come from given chunks, or all that come from several; names and sources only (streamed).
// Without sources of its own a relation comes from the chunks that mention both its ends.
//
// :param passages => ['c1']       -- LIST OF STRING: ids and element ids of chunks; null = those with several sources
//
// returns: element_id STRING, key LIST OF STRING, type STRING, ids LIST OF STRING
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH a, r, b, @named_sources(r, Relation) AS own
CALL (a, b, own) {
  WITH a, b, own
  WHERE size(own) = 0
  MATCH (a)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
    AND EXISTS { MATCH (c)-[n:@MENTION]-(b) }
  RETURN collect(DISTINCT @ref(c)) AS shared
}
WITH a, r, b, CASE WHEN size(own) = 0 THEN shared ELSE own END AS ids
WHERE CASE WHEN $passages IS NULL THEN size(ids) > 1 ELSE any(id IN ids WHERE id IN $passages) END
RETURN elementId(r) AS element_id, [left(@shown(a), 300), left(@type(a), 200), left(@label(r), 200), left(@shown(b), 300), left(@type(b), 200)] AS key, left(@label(r), 200) AS type, ids
