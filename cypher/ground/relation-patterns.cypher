// relation-patterns: which relation types join entities of given types, and how often. An end without a type counts under ''.
//
// :param layout => {...}                 -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param pairs => [['Person', 'Place']]  -- LIST OF LIST: types of the source and of the target
//
// returns: source_type STRING, target_type STRING, type STRING, count INTEGER
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $layout.relation_types
  AND ($layout.relations_join_entities_only OR (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
    AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
    AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
WITH coalesce(left(@type(a), 200), '') AS source_type, coalesce(left(@type(b), 200), '') AS target_type,
     left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS type
WHERE [source_type, target_type] IN $pairs
RETURN source_type, target_type, type, count(*) AS count
ORDER BY count DESC, source_type, target_type, type
