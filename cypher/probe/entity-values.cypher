// entity-values: what some properties of some entities hold, as text.
//
// :param ids => ['4:x:1']               -- LIST OF STRING: element ids
// :param keys => ['born']               -- LIST OF STRING: properties
//
// returns: element_id STRING, values LIST
// mode: read
UNWIND $ids AS id
MATCH (e) WHERE elementId(e) = id
RETURN id AS element_id, [k IN $keys | left(toStringOrNull(e[k]), 200)] AS values
