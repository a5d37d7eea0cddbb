// passage-texts: the texts of given chunks.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of chunks
//
// returns: element_id STRING, text STRING
// mode: read
MATCH (c)
WHERE elementId(c) IN $ids
RETURN elementId(c) AS element_id, head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS text
