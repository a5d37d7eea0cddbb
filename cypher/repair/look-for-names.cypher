// look-for-names: chunks whose text holds an entity's name: candidates for the missing link.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them
//
// returns: entity STRING, chunk STRING, text STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $element_ids
  AND @is(e, Entity)
WITH e, @name(e) AS name
WHERE size(trim(name)) > 0
MATCH (c)
WHERE @is(c, Chunk)
  AND any(k IN $layout.chunk_text_keys WHERE toLower(toStringOrNull(c[k])) CONTAINS toLower(trim(name)))
RETURN name AS entity, elementId(c) AS chunk, left(head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), 200) AS text
