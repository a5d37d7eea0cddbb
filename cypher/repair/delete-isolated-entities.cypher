// delete-isolated-entities: deletes entities that no relation joins to another one, with their links to texts.
// Those that have a relation by now are left alone.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them; leave out those that are right
//
// returns: deleted INTEGER
// mode: write
MATCH (e)
WHERE elementId(e) IN $element_ids
  AND @is(e, Entity)
  AND NOT EXISTS { MATCH (e)-[r]-(o) WHERE o <> e AND @is(r, Relation) }
DETACH DELETE e
RETURN count(*) AS deleted
