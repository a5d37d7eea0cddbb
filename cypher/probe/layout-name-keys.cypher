// layout-name-keys: the properties of the first entities of a type label: how full they are, how many are text, how many values differ.
//
// :param label => 'Person'        -- STRING: the type label; null = entities without one
// :param sample => 1000           -- INTEGER: entities to look at
//
// returns: key STRING, looked_at INTEGER, filled INTEGER, texts INTEGER, values INTEGER, length FLOAT, some LIST OF STRING
// mode: read
MATCH (e:@Entity)
WHERE coalesce(@kind(labels(e)), '') = coalesce($label, '')
WITH e LIMIT $sample
WITH collect(e) AS found
UNWIND found AS e
UNWIND keys(e) AS key
WITH size(found) AS looked_at, key, left(toStringOrNull(e[key]), 500) AS value, e[key] IS :: STRING NOT NULL AS text
WHERE value IS NOT NULL AND trim(value) <> ''
RETURN key, looked_at, count(*) AS filled, count(CASE WHEN text THEN 1 END) AS texts, count(DISTINCT value) AS values,
  avg(size(value)) AS length, collect(DISTINCT value)[..50] AS some
ORDER BY key
