// coverage-types: the types of named entities that are not in a list, with how many entities each has.
// With an empty list: every type. An entity without a type is counted under null.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param covered => []            -- LIST OF STRING: types that a set of questions covers
//
// returns: type STRING, entities INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  AND trim(coalesce(@shown(e), '')) <> ''
WITH left(@type(e), 200) AS type, count(*) AS entities
WHERE type IS NULL OR NOT type IN $covered
RETURN type, entities
ORDER BY entities DESC, type
