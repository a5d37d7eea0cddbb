// relations-of-predicates: the relations that say one of some predicates.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param predicates => ['part_of'] -- LIST OF STRING: predicates (or types) as the graph has them
// :param most => 1000             -- INTEGER: relations at most
//
// returns: relation STRING, source STRING, target STRING, predicate STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $layout.relation_types AND a <> b
WITH a, r, b, left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS predicate
WHERE predicate IN $predicates
  AND ($layout.scope_label IS NULL OR ($layout.scope_label IN labels(a) AND $layout.scope_label IN labels(b)))
  AND ($layout.scope_property IS NULL OR (a[$layout.scope_property] = $layout.scope_value AND b[$layout.scope_property] = $layout.scope_value))
WITH a, r, b, predicate
LIMIT $most
RETURN elementId(r) AS relation, elementId(a) AS source, elementId(b) AS target, predicate
