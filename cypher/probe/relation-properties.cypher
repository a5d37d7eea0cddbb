// relation-properties: how many relations of each label carry each property, and with which kind of value.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: label STRING, property STRING, value_type STRING, count INTEGER
// mode: read
MATCH (s)-[r]->(t)
WHERE type(r) IN $layout.relation_types
  AND ($layout.relations_join_entities_only OR (
    any(l IN labels(s) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(s) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(s))
    AND ($layout.scope_property IS NULL OR s[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(t) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(t) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(t))
    AND ($layout.scope_property IS NULL OR t[$layout.scope_property] = $layout.scope_value)))
WITH r, left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS label
UNWIND keys(r) AS property
WITH label, property, valueType(r[property]) AS kind, count(*) AS uses
RETURN label, property, replace(kind, ' NOT NULL', '') AS value_type, sum(uses) AS count
ORDER BY label, property, value_type
