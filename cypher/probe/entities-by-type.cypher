// entities-by-type: how many entities there are of each type.
// An entity without a type is counted under null.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: type STRING, count INTEGER
// mode: read
MATCH (e)
WHERE $layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value
WITH labels(e) AS labels, e[$layout.type_key] AS named, count(*) AS uses
WHERE any(l IN labels WHERE l IN $layout.entity_labels)
  AND none(l IN labels WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels)
RETURN left(coalesce(toStringOrNull(named), @kind(labels)), 200) AS type,
       sum(uses) AS count
ORDER BY count DESC, type
