// delete-nameless-entities: deletes entities that have no name, with all their relations and links.
// Those that have one by now are left alone.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them; leave out those that are right
//
// returns: deleted INTEGER
// mode: write
MATCH (e)
WHERE elementId(e) IN $element_ids
  AND @is(e, Entity)
  AND coalesce(@shown(e), '') =~ '[\\s\\p{P}\\p{Z}\\p{C}]*+'
DETACH DELETE e
RETURN count(*) AS deleted
