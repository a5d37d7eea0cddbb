// delete-listed-entities: deletes entities with all their relations and links.
// What they say of others is lost: look at each one first.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them; leave out those that are right
//
// returns: deleted INTEGER
// mode: write
MATCH (e)
WHERE elementId(e) IN $element_ids
  AND @is(e, Entity)
DETACH DELETE e
RETURN count(*) AS deleted
