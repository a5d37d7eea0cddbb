// layout-scope-values: the values of the property that parts the graphs, with their entities.
//
// returns: value STRING, count INTEGER
// mode: read
MATCH (e)
WHERE @has_label(e, Entity)
  AND NOT @has_label(e, Excluded)
RETURN toStringOrNull(e.@scope_property) AS value, count(*) AS count
ORDER BY count DESC, value
