// swap-validity: swaps begin and end of relations that end before they begin.
// Right only where the two were swapped.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
//
// returns: swapped INTEGER
// mode: write
MATCH ()-[r]->()
WHERE elementId(r) IN $element_ids
  AND @is(r, Relation)
WITH r, r[$layout.valid_from_key] AS begin, r[$layout.valid_to_key] AS end
SET r[$layout.valid_from_key] = end, r[$layout.valid_to_key] = begin
RETURN count(*) AS swapped
