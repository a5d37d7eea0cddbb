// look-for-names: chunks whose text holds an entity's name: candidates for the missing link.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them
//
// returns: entity STRING, chunk STRING, text STRING
// mode: read
MATCH (e:@Entity)
WHERE elementId(e) IN $element_ids
WITH e, @name(e) AS name
WHERE size(trim(name)) > 0
MATCH (c:@Chunk)
WHERE any(k IN @chunk_text_keys WHERE toLower(toStringOrNull(c[k])) CONTAINS toLower(trim(name)))
RETURN name AS entity, elementId(c) AS chunk, left(@text(c), 200) AS text
