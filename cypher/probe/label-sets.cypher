// label-sets: the sets of type labels that entities carry, and how often.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: labels LIST OF STRING, uses INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH [l IN labels(e) WHERE NOT l IN $layout.type_label_ignored] AS labels
WHERE labels <> []
RETURN labels, count(*) AS uses
