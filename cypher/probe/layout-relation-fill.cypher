// layout-relation-fill: how many relations of some types have each of some properties.
//
// :param types => ['RELATED']           -- LIST OF STRING: the types
// :param keys => ['weight']             -- LIST OF STRING: the properties
//
// returns: key STRING, relations INTEGER, filled INTEGER
// mode: read
MATCH ()-[r]->()
WHERE type(r) IN $types
UNWIND $keys AS key
RETURN key, count(*) AS relations, count(r[key]) AS filled
