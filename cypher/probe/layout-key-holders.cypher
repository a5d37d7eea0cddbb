// layout-key-holders: nodes that have a property, and how many of them carry the value of another one as a label.
//
// :param key => 'entity_id'         -- STRING: the property that they must have
// :param type_key => 'entity_type'  -- STRING: the property whose value may be a label too; null = none
//
// returns: holders INTEGER, typed INTEGER
// mode: read
MATCH (n)
WHERE n[$key] IS NOT NULL
WITH count(*) AS holders, count(CASE WHEN replace(toStringOrNull(n[$type_key]), '"', '') IN labels(n) THEN 1 END) AS typed
RETURN holders, typed
