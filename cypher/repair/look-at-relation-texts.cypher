// look-at-relation-texts: relations with the texts that they name as their sources.
//
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them
//
// returns: relation STRING, text STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $element_ids
  AND @is(r, RELATION) AND @is(a, Entity) AND @is(b, Entity)
MATCH (c:@Chunk)
WHERE @id(c) IN @sources(r, Relation)
RETURN coalesce(@name(a), '?') + ' -[' + @label(r) + ']-> ' + coalesce(@name(b), '?') AS relation,
  @text(c) AS text
