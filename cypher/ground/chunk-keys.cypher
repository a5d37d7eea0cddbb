// chunk-keys: what a chunk may be named by: its element id and its ids, one row a key (streamed).
//
// returns: element_id STRING, key STRING
// mode: read
MATCH (c:@Chunk)
UNWIND [elementId(c)] + [k IN @chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])] AS key
WITH c, key
WHERE key IS NOT NULL
RETURN elementId(c) AS element_id, key
