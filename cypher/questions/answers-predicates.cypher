// answers-predicates: which predicates the entities of each type have, in which direction, and at which types they end.
// What a type often has and one entity of it has not, a negative question can ask for.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: type STRING, predicate STRING, outgoing BOOLEAN, entities INTEGER, other STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $layout.relation_types AND a <> b
  AND ($layout.relations_join_entities_only OR (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
    AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
    AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
WITH a, b, left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS predicate
UNWIND [[a, b, true], [b, a, false]] AS side
WITH side[0] AS e, side[1] AS o, side[2] AS outgoing, predicate
WITH e, outgoing, predicate, left(@type(e), 200) AS type,
     left(@type(o), 200) AS other
WITH type, predicate, outgoing, other, count(DISTINCT e) AS own
ORDER BY own DESC, other
WITH type, predicate, outgoing, sum(own) AS entities, head(collect(other)) AS other
RETURN type, predicate, outgoing, entities, other
ORDER BY type, entities DESC, predicate, outgoing
