// layout-inner-types: how many relations of some types join two entities.
//
// :param layout => {...}             -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param types => ['KNOWS']          -- LIST OF STRING: the types to look at
//
// returns: type STRING, inner INTEGER, count INTEGER
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $types
RETURN type(r) AS type, count(*) AS count, count(CASE WHEN
      any(l IN labels(a) WHERE l IN $layout.entity_labels) AND any(l IN labels(b) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
      AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR ($layout.scope_label IN labels(a) AND $layout.scope_label IN labels(b)))
      AND ($layout.scope_property IS NULL OR
        (a[$layout.scope_property] = $layout.scope_value AND b[$layout.scope_property] = $layout.scope_value))
    THEN 1 END) AS inner
