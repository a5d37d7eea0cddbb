// entities-by-type: how many entities there are of each type.
// An entity without a type is counted under null.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: type STRING, count INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
RETURN left(coalesce(toStringOrNull(e[$layout.type_key]), head([l IN labels(e) WHERE NOT l IN $layout.type_label_ignored])), 200) AS type,
       count(*) AS count
ORDER BY count DESC, type
