// relation-details: what given relations say.
//
// :param ids => ['5:x:1']         -- LIST OF STRING: element ids of relations
//
// returns: element_id STRING, subject STRING, subject_type STRING, predicate STRING, object STRING, object_type STRING, description STRING, confidence FLOAT
// mode: read
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $ids
RETURN elementId(r) AS element_id, left(@shown(a), 300) AS subject, left(@type(a), 200) AS subject_type, left(@label(r), 200) AS predicate, left(@shown(b), 300) AS object, left(@type(b), 200) AS object_type,
       left(@description(r, Relation), 1000) AS description,
       toFloatOrNull(r.@confidence_key) AS confidence
