// entity-slices: every named entity, some at a time: one row holds many, because a row costs the client more than what is in it.
// An entity is a list: element id, key, name, type, aliases.
//
// :param slice => 1000             -- INTEGER: entities a row
// :param aliases => true            -- BOOLEAN: false leaves the aliases out
//
// returns: rows LIST OF LIST
// mode: read
MATCH (e:@Entity)
WITH collect(e) AS found
UNWIND range(0, size(found) - 1, $slice) AS at
CALL (found, at) {
  UNWIND found[at..at + $slice] AS e
  WITH e, @name(e) AS name
  WHERE name IS NOT NULL
  RETURN collect([elementId(e), coalesce(@key(e), name), name, @type(e),
    CASE WHEN $aliases THEN @aliases(e) ELSE [] END]) AS rows
}
RETURN rows
