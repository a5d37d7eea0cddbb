// entities-by-type: how many entities there are of each type.
// An entity without a type is counted under null.
//
// returns: type STRING, count INTEGER
// mode: read
MATCH (e)
WHERE @scope_property IS NULL OR e.@scope_property = @scope_value
WITH labels(e) AS labels, e.@type_key AS named, count(*) AS uses
WHERE any(l IN labels WHERE l IN @entity_labels)
  AND none(l IN labels WHERE l IN @entity_excluded_labels)
  AND (@scope_label IS NULL OR @scope_label IN labels)
RETURN left(coalesce(toStringOrNull(named), @kind(labels)), 200) AS type,
       sum(uses) AS count
ORDER BY count DESC, type
