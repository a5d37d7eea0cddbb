// look-at-relation-texts: relations with the texts that they name as their sources.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them
//
// returns: relation STRING, text STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $element_ids
  AND @is(r, Relation)
MATCH (c)
WHERE head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) IN @sources(r, Relation)
  AND @is(c, Chunk)
RETURN coalesce(@name(a), '?') + ' -[' + @label(r) + ']-> ' + coalesce(@name(b), '?') AS relation,
  head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS text
