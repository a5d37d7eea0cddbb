// relations-between: every relation that joins two of the given entities, with its ends' names and what it says.
//
// :param ids => ['4:x:1', '4:x:2'] -- LIST OF STRING: element ids of entities
// :param most => 2000             -- INTEGER: relations at most
//
// returns: element_id STRING, start STRING, end STRING, subject STRING, predicate STRING, type STRING, object STRING, description STRING
// mode: read
UNWIND $ids AS one
MATCH (a) WHERE elementId(a) = one
UNWIND $ids AS other
MATCH (b) WHERE elementId(b) = other
CALL (a, b) {
  MATCH (a)-[r:@RELATION]->(b)
  WHERE a <> b
  RETURN r
}
WITH a, r, b ORDER BY elementId(r) LIMIT $most
RETURN elementId(r) AS element_id, elementId(a) AS start, elementId(b) AS end,
       left(@shown(a), 300) AS subject,
       left(@label(r), 200) AS predicate, type(r) AS type,
       left(@shown(b), 300) AS object,
       left(@description(r, Relation), 1000) AS description
