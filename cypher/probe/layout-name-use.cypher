// layout-name-use: how many entities of each type label have each of some properties.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param keys => ['name']         -- LIST OF STRING: the properties
//
// returns: label STRING, entities INTEGER, filled LIST OF INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH @kind(labels(e)) AS label, [k IN $keys | e[k] IS NOT NULL] AS there, count(*) AS entities
WITH label, collect({there: there, entities: entities}) AS rows
RETURN label, reduce(n = 0, row IN rows | n + row.entities) AS entities,
  [at IN range(0, size($keys) - 1) | reduce(n = 0, row IN rows | n + CASE WHEN row.there[at] THEN row.entities ELSE 0 END)] AS filled
ORDER BY label
