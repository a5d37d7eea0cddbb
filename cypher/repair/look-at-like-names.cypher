// look-at-like-names: other entities whose names begin like those of these: candidates for the missing link.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them
//
// returns: entity STRING, other STRING, element_id STRING
// mode: read
MATCH (e), (o)
WHERE elementId(e) IN $element_ids AND NOT elementId(o) IN $element_ids
  AND @is(e, Entity)
  AND @is(o, Entity)
WITH e, o, toLower(@name(e)) AS mine, toLower(@name(o)) AS other
WHERE other STARTS WITH left(mine, 5)
RETURN @name(e) AS entity, @name(o) AS other, elementId(o) AS element_id
ORDER BY entity, other
