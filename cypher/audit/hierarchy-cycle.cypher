// hierarchy-cycle: the relations of types that say what stands above what, some at a time; circles among them are found in Python.
// A relation is a list: element ids of its start and of its end, and its label.
//
// :param types => ['PART_OF']      -- LIST OF STRING: relation types of hierarchies
// :param slice => 1000             -- INTEGER: relations a row
//
// returns: rows LIST OF LIST
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE type(r) IN $types AND a <> b
WITH collect([elementId(a), elementId(b), type(r)]) AS found
UNWIND range(0, size(found) - 1, $slice) AS at
RETURN found[at..at + $slice] AS rows
