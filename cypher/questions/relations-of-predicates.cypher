// relations-of-predicates: the relations that say one of some predicates.
//
// :param predicates => ['part_of'] -- LIST OF STRING: predicates (or types) as the graph has them
// :param most => 1000             -- INTEGER: relations at most
//
// returns: relation STRING, source STRING, target STRING, predicate STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE @is(r, RELATION) AND a <> b
WITH a, r, b, left(@label(r), 200) AS predicate
WHERE predicate IN $predicates
  AND @is(a, Node) AND @is(b, Node)
WITH a, r, b, predicate
LIMIT $most
RETURN elementId(r) AS relation, elementId(a) AS source, elementId(b) AS target, predicate
