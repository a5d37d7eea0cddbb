// layout-node-keys: which properties the first nodes of a label have.
//
// :param label => 'Chunk'         -- STRING: the label
// :param sample => 200            -- INTEGER: nodes to look at
//
// returns: looked_at INTEGER, keys LIST OF MAP
// mode: read
MATCH (n)
WHERE $label IN labels(n)
WITH n LIMIT $sample
WITH collect(keys(n)) AS rows
UNWIND CASE WHEN rows = [] THEN [null] ELSE rows END AS row
UNWIND CASE WHEN coalesce(row, []) = [] THEN [null] ELSE row END AS key
WITH size(rows) AS looked_at, key, count(*) AS count
RETURN looked_at, [x IN collect({key: key, count: count}) WHERE x.key IS NOT NULL] AS keys
