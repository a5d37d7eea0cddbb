// passage-texts: the texts of given chunks.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of chunks
//
// returns: element_id STRING, text STRING
// mode: read
MATCH (c)
WHERE elementId(c) IN $ids
RETURN elementId(c) AS element_id, @text(c) AS text
