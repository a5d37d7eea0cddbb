// layout-entity-labels: the sets of labels that entities carry, and how many entities carry each.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME prints it)
//
// returns: labels LIST OF STRING, count INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
RETURN labels(e) AS labels, count(*) AS count
