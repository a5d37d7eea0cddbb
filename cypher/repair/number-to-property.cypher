// number-to-property: turns entities that are only numbers into a property of the entities that they are related to.
// The property is a list: one entity may have several numbers. Then the numbers' nodes go, with their relations and links.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them; leave out those that are right
// :param property => 'year'              -- STRING: a property that these entities do not have yet
//
// returns: deleted INTEGER
// mode: write
MATCH (e)
WHERE elementId(e) IN $element_ids
  AND @is(e, Entity)
WITH e, @name(e) AS value
CALL (e, value) {
  MATCH (e)-[r]-(o)
  WHERE o <> e AND @is(r, Relation)
  WITH DISTINCT o, value
  SET o[$property] = CASE
    WHEN o[$property] IS NULL THEN [value]
    WHEN o[$property] IS :: LIST<ANY> THEN o[$property] + [value]
    ELSE [toString(o[$property]), value] END
}
DETACH DELETE e
RETURN count(*) AS deleted
