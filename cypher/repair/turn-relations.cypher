// turn-relations: turns relations round, with all their properties; their element ids change.
// Right only where the ends were swapped; where an end has the wrong type, set that instead.
//
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
//
// returns: turned INTEGER
// mode: write
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $element_ids
  AND @is(r, RELATION) AND @is(a, Entity) AND @is(b, Entity)
WITH a, b, r, type(r) AS name, properties(r) AS said
// writes:
DELETE r
CREATE (b)-[n:$(name)]->(a)
SET n = said
// counts:
RETURN count(*) AS turned
