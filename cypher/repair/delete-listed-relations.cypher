// delete-listed-relations: deletes relations.
// Read their sources first: nothing brings them back.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
//
// returns: deleted INTEGER
// mode: write
MATCH ()-[r]->()
WHERE elementId(r) IN $element_ids
  AND @is(r, Relation)
DELETE r
RETURN count(*) AS deleted
