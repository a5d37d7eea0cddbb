// entity-slices: every named entity, some at a time: one row holds many, because a row costs the client more than what is in it.
// An entity is a list: element id, key, name, type, aliases.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param slice => 1000             -- INTEGER: entities a row
// :param aliases => true            -- BOOLEAN: false leaves the aliases out
//
// returns: rows LIST OF LIST
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH collect(e) AS found
UNWIND range(0, size(found) - 1, $slice) AS at
CALL (found, at) {
  UNWIND found[at..at + $slice] AS e
  WITH e, @name(e) AS name
  WHERE name IS NOT NULL
  RETURN collect([elementId(e), coalesce(toStringOrNull(e[$layout.key_property]), name), name, @type(e),
    CASE WHEN $aliases THEN reduce(all = [], k IN $layout.alias_keys | all + CASE
      WHEN e[k] IS NULL THEN []
      WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] WHERE toStringOrNull(x) IS NOT NULL | toStringOrNull(x)]
      ELSE [x IN [toStringOrNull(e[k])] WHERE x IS NOT NULL] END) ELSE [] END]) AS rows
}
RETURN rows
