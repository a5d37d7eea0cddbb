// relation-details: what given relations say.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['5:x:1']         -- LIST OF STRING: element ids of relations
//
// returns: element_id STRING, subject STRING, subject_type STRING, predicate STRING, object STRING, object_type STRING, description STRING, confidence FLOAT
// mode: read
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $ids
RETURN elementId(r) AS element_id, left(head([k IN $layout.name_keys WHERE a[k] IS NOT NULL | toStringOrNull(a[k])]), 300) AS subject, left(coalesce(toStringOrNull(a[$layout.type_key]), head([l IN labels(a) WHERE NOT l IN $layout.type_label_ignored])), 200) AS subject_type, left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS predicate, left(head([k IN $layout.name_keys WHERE b[k] IS NOT NULL | toStringOrNull(b[k])]), 300) AS object, left(coalesce(toStringOrNull(b[$layout.type_key]), head([l IN labels(b) WHERE NOT l IN $layout.type_label_ignored])), 200) AS object_type,
       CASE WHEN r[$layout.relation_description_key] IS :: STRING THEN left(r[$layout.relation_description_key], 1000) END AS description,
       toFloatOrNull(r[$layout.confidence_key]) AS confidence
