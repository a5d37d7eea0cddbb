// layout-scope-values: the values of the property that parts the graphs, with their entities.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME prints it)
//
// returns: value STRING, count INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
RETURN toStringOrNull(e[$layout.scope_property]) AS value, count(*) AS count
ORDER BY count DESC, value
