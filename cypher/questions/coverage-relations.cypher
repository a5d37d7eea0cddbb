// coverage-relations: the relations that join entities of two sets, in either direction, for many pairs of sets at once.
//
// :param rows => [{n: 0, one: ['4:x:1'], other: ['4:x:2']}] -- LIST OF MAP: number, element ids of both sets
//
// returns: n INTEGER, element_id STRING, start STRING, end STRING, predicate STRING, type STRING
// mode: read
UNWIND $rows AS row
UNWIND row.one AS first
MATCH (a) WHERE elementId(a) = first
UNWIND row.other AS second
MATCH (b) WHERE elementId(b) = second
MATCH (a)-[r:@RELATION]-(b)
WHERE a <> b
RETURN DISTINCT row.n AS n, elementId(r) AS element_id, elementId(startNode(r)) AS start, elementId(endNode(r)) AS end,
       left(@label(r), 200) AS predicate, type(r) AS type
