// relation-properties: how many relations of each label carry each property, and with which kind of value.
//
// returns: label STRING, property STRING, value_type STRING, count INTEGER
// mode: read
MATCH (s:@Endpoint)-[r]->(t:@Endpoint)
WHERE @is(r, RELATION)
WITH r, left(@label(r), 200) AS label
UNWIND keys(r) AS property
WITH label, property, valueType(r[property]) AS kind, count(*) AS uses
RETURN label, property, replace(kind, ' NOT NULL', '') AS value_type, sum(uses) AS count
ORDER BY label, property, value_type
