// entity-properties: how many entities of each type carry each property, and with which kind of value.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: label STRING, property STRING, value_type STRING, count INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, left(coalesce(@type(e), '(none)'), 200) AS label
UNWIND keys(e) AS property
WITH label, property, valueType(e[property]) AS kind, count(*) AS uses
RETURN label, property, replace(kind, ' NOT NULL', '') AS value_type, sum(uses) AS count
ORDER BY label, property, value_type
