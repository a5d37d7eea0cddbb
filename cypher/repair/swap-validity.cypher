// swap-validity: swaps begin and end of relations that end before they begin.
// Right only where the two were swapped.
//
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
//
// returns: swapped INTEGER
// mode: write
MATCH ()-[r]->()
WHERE elementId(r) IN $element_ids AND r.@valid_from_key <> r.@valid_to_key
  AND @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
WITH r, r.@valid_from_key AS begin, r.@valid_to_key AS end
// writes:
SET r[@valid_from_key] = end, r[@valid_to_key] = begin
// counts:
RETURN count(*) AS swapped
