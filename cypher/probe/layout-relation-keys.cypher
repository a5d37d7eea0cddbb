// layout-relation-keys: which properties the first relations of a type have.
//
// :param type => null             -- STRING: the type; null = any
// :param sample => 200            -- INTEGER: relations to look at
//
// returns: looked_at INTEGER, keys LIST OF MAP
// mode: read
MATCH ()-[r]->()
WHERE $type IS NULL OR type(r) = $type
WITH r LIMIT $sample
WITH collect(keys(r)) AS rows
UNWIND CASE WHEN rows = [] THEN [null] ELSE rows END AS row
UNWIND CASE WHEN coalesce(row, []) = [] THEN [null] ELSE row END AS key
WITH size(rows) AS looked_at, key, count(*) AS count
RETURN looked_at, [x IN collect({key: key, count: count}) WHERE x.key IS NOT NULL] AS keys
