// drop-property: takes one property away from the entities of one type.
// What the few have of it is lost.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param type => 'Person'                -- STRING: the type
// :param property => 'nickname'          -- STRING: the property
//
// returns: changed INTEGER
// mode: write
MATCH (e)
WHERE $type IN labels(e) + [toStringOrNull(e[$layout.type_key])]
  AND @is(e, Entity)
  AND e[$property] IS NOT NULL
REMOVE e[$property]
RETURN count(*) AS changed
