// entity-lines: what given entities say of themselves: name, type and description.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
//
// returns: element_id STRING, name STRING, type STRING, description STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $ids
RETURN elementId(e) AS element_id, left(@shown(e), 300) AS name,
       left(@type(e), 200) AS type,
       left(@description(e, Entity), 1000) AS description
