// coverage-predicates: the predicates (or types) of relations between entities that are not in a list, with how many relations each has.
// With an empty list: every predicate.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param covered => []            -- LIST OF STRING: predicates that a set of questions covers
//
// returns: predicate STRING, relations INTEGER
// mode: read
MATCH (s)-[r]->(t)
WHERE type(r) IN $layout.relation_types
  AND ($layout.relations_join_entities_only OR (
    any(l IN labels(s) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(s) WHERE l IN $layout.entity_excluded_labels)
    AND any(l IN labels(t) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(t) WHERE l IN $layout.entity_excluded_labels)))
  AND ($layout.scope_label IS NULL OR ($layout.scope_label IN labels(s) AND $layout.scope_label IN labels(t)))
  AND ($layout.scope_property IS NULL OR (s[$layout.scope_property] = $layout.scope_value AND t[$layout.scope_property] = $layout.scope_value))
WITH left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS predicate, count(*) AS relations
WHERE NOT predicate IN $covered
RETURN predicate, relations
ORDER BY relations DESC, predicate
