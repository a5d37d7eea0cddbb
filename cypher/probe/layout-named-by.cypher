// layout-named-by: how many of the first nodes are named by one property alone (they have it and none of the others).
//
// :param key => 'id'                              -- STRING: the property
// :param others => ['name', 'title', 'label']     -- LIST OF STRING: properties that would be names too
// :param sample => 1000                           -- INTEGER: nodes to look at
//
// returns: looked_at INTEGER, count INTEGER
// mode: read
MATCH (n)
WITH n LIMIT $sample
RETURN count(*) AS looked_at,
       count(CASE WHEN n[$key] IS :: STRING NOT NULL AND none(k IN $others WHERE n[k] IS NOT NULL) THEN 1 END) AS count
