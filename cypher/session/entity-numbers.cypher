// entity-numbers: the internal ids, by which a session knows them, of entities given by their element ids.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
//
// returns: element_id STRING, id INTEGER
// mode: read
MATCH (e) WHERE elementId(e) IN $ids
RETURN elementId(e) AS element_id, id(e) AS id
