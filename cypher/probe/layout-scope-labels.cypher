// layout-scope-labels: labels of possible entities that are neither base labels nor the entity's own type: names of graphs.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME prints it)
//
// returns: label STRING, count INTEGER
// mode: read
MATCH (e)
WHERE (size($layout.entity_labels) = 0 OR any(l IN labels(e) WHERE l IN $layout.entity_labels))
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.key_property IS NULL OR e[$layout.key_property] IS NOT NULL)
WITH labels(e) AS labels, replace(coalesce(toStringOrNull(e[$layout.type_key]), 'UNKNOWN'), '"', '') AS type
UNWIND [l IN labels WHERE l <> type AND NOT l IN $layout.type_label_ignored] + [null] AS label
RETURN label, count(*) AS count
