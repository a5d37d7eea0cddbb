// layout-name-use: how many entities of each type label have each of some properties.
//
// :param keys => ['name']         -- LIST OF STRING: the properties
//
// returns: label STRING, entities INTEGER, filled LIST OF INTEGER
// mode: read
MATCH (e:@Entity)
WITH @kind(labels(e)) AS label, [k IN $keys | e[k] IS NOT NULL] AS there, count(*) AS entities
WITH label, collect({there: there, entities: entities}) AS rows
RETURN label, reduce(n = 0, row IN rows | n + row.entities) AS entities,
  [at IN range(0, size($keys) - 1) | reduce(n = 0, row IN rows | n + CASE WHEN row.there[at] THEN row.entities ELSE 0 END)] AS filled
ORDER BY label
