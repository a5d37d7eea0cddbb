// look-at-entity-texts: entities with the texts that they are linked to.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them
//
// returns: entity STRING, text STRING
// mode: read
MATCH (e:@Entity)
WHERE elementId(e) IN $element_ids
MATCH (c:@Chunk)
WHERE (EXISTS { MATCH (e)-[m:@MENTION]-(c) }
    OR @id(c) IN @sources(e, Entity))
RETURN @name(e) AS entity, @text(c) AS text
