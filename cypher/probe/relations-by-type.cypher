// relations-by-type: how many relations between entities there are of each label, and how many of them are self-loops.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: type STRING, count INTEGER, self_loops INTEGER
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
WITH type(r) AS kind, r[$layout.relation_label_key] AS named, count(*) AS uses, sum(CASE WHEN s = t THEN 1 ELSE 0 END) AS loops
RETURN left(coalesce(toStringOrNull(named), kind), 200) AS type, sum(uses) AS count, sum(loops) AS self_loops
ORDER BY count DESC, type
