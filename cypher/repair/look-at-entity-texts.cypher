// look-at-entity-texts: entities with the texts that they are linked to.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them
//
// returns: entity STRING, text STRING
// mode: read
MATCH (e)
WHERE elementId(e) IN $element_ids
  AND @is(e, Entity)
MATCH (c)
WHERE @is(c, Chunk)
  AND (EXISTS { MATCH (e)-[m]-(c) WHERE type(m) IN $layout.mention_types }
    OR head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) IN @sources(e, Entity))
RETURN @name(e) AS entity, head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS text
