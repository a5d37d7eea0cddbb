// layout-scope-labels: labels of possible entities that are neither base labels nor the entity's own type: names of graphs.
//
// returns: label STRING, count INTEGER
// mode: read
MATCH (e)
WHERE (size(@entity_labels) = 0 OR @has_label(e, Entity))
  AND NOT @has_label(e, Excluded)
  AND (@key_property IS NULL OR e.@key_property IS NOT NULL)
WITH labels(e) AS labels, replace(coalesce(toStringOrNull(e.@type_key), 'UNKNOWN'), '"', '') AS type
UNWIND [l IN labels WHERE l <> type AND NOT l IN @type_label_ignored] + [null] AS label
RETURN label, count(*) AS count
