// relations-by-id: the given relations, with their ends' names.
//
// :param ids => ['5:x:1']         -- LIST OF STRING: element ids of relations
//
// returns: element_id STRING, start STRING, end STRING, subject STRING, predicate STRING, type STRING, object STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $ids
RETURN elementId(r) AS element_id, elementId(a) AS start, elementId(b) AS end,
       left(@shown(a), 300) AS subject,
       left(@label(r), 200) AS predicate, type(r) AS type,
       left(@shown(b), 300) AS object
