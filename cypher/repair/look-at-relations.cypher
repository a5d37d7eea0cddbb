// look-at-relations: the relations of entities, to see what hangs on them.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them
//
// returns: entity STRING, relation STRING, other STRING
// mode: read
MATCH (e)-[r]-(o)
WHERE elementId(e) IN $element_ids
  AND @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
RETURN @name(e) AS entity, @label(r) AS relation, @name(o) AS other
ORDER BY entity, relation, other
