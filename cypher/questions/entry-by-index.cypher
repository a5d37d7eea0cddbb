// entry-by-index: the entities that a vector index finds nearest to a vector, best first. Without an index nothing is returned.
// The search is approximate, as the index is. More are asked for than wanted, because the index may hold nodes of other graphs too:
// such a node, and one of another type, is a row without an element id, so that whoever asks sees whether the index has more to give.
//
// :param index => null            -- STRING: the name of the vector index
// :param vector => [0.0, 1.0]     -- LIST OF FLOAT: what is searched for
// :param most => 50               -- INTEGER: nodes to ask the index for
// :param types => null            -- LIST OF STRING: types that the entities may have; null = any
//
// returns: element_id STRING, name STRING, type STRING, description STRING, score FLOAT
// mode: read
WITH $index AS index
WHERE index IS NOT NULL
CALL db.index.vector.queryNodes(index, $most, $vector) YIELD node AS e, score
WITH e, score, @is(e, Entity) AS ours, left(@type(e), 200) AS type
RETURN CASE WHEN ours AND ($types IS NULL OR type IN $types) THEN elementId(e) END AS element_id, left(@shown(e), 300) AS name, type,
       left(@description(e, Entity), 1000) AS description, score
