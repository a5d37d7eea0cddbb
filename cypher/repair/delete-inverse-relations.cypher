// delete-inverse-relations: keeps one direction of relations that mean the same in both directions (married_to).
// Where several directions hold, as of knows, leave them alone.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param labels => ['married_to']        -- LIST OF STRING: names of relations that are symmetric
//
// returns: deleted INTEGER
// mode: write
MATCH (a)-[r]->(b)
WHERE elementId(a) > elementId(b) AND @label(r) IN $labels
  AND @is(r, Relation)
  AND EXISTS { MATCH (b)-[o]->(a) WHERE type(o) IN $layout.relation_types AND @label(o) = @label(r) }
WITH collect(r) AS back
UNWIND back AS r
DELETE r
RETURN count(*) AS deleted
