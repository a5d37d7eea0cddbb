// relation-sources: the sources that relations name themselves, one row a relation and source (streamed).
//
// returns: element_id STRING, key STRING
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION) AND r.@relation_source_key IS NOT NULL
UNWIND CASE
  WHEN r.@relation_source_key IS :: LIST<ANY> THEN [x IN r.@relation_source_key | trim(toStringOrNull(x))]
  WHEN @source_separator IS NULL THEN [trim(toStringOrNull(r.@relation_source_key))]
  ELSE [x IN split(toStringOrNull(r.@relation_source_key), @source_separator) | trim(x)] END AS key
WITH r, key
WHERE key <> '' AND NOT key IN @placeholder_values
RETURN elementId(r) AS element_id, key
