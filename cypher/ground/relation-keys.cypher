// relation-keys: what a relation may be named by when it was retrieved: its key and its description, one relation after another (streamed).
//
// returns: element_id STRING, key STRING, description STRING
// mode: read
MATCH (a:@Node)-[r]->(b)
WHERE @is(r, RELATION)
WITH r, left(coalesce(@key(r), toStringOrNull(r.id), toStringOrNull(r.uuid)), 500) AS key,
     left(@description(r, Relation), 2000) AS description
WHERE key IS NOT NULL OR description IS NOT NULL
RETURN elementId(r) AS element_id, key, description
