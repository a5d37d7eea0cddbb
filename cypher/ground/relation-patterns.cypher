// relation-patterns: which relation types join entities of given types, and how often. An end without a type counts under ''.
//
// :param pairs => [['Person', 'Place']]  -- LIST OF LIST: types of the source and of the target
//
// returns: source_type STRING, target_type STRING, type STRING, count INTEGER
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH coalesce(left(@type(a), 200), '') AS source_type, coalesce(left(@type(b), 200), '') AS target_type,
     left(@label(r), 200) AS type
WHERE [source_type, target_type] IN $pairs
RETURN source_type, target_type, type, count(*) AS count
ORDER BY count DESC, source_type, target_type, type
