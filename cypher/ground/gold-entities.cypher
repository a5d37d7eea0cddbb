// gold-entities: key, name and type of given entities.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids
//
// returns: element_id STRING, key STRING, name STRING, type STRING
// mode: read
MATCH (e) WHERE elementId(e) IN $ids
WITH e, left(coalesce(@shown(e), ''), 200) AS name
RETURN elementId(e) AS element_id, left(coalesce(@key(e), name), 200) AS key, name,
       left(@type(e), 200) AS type
