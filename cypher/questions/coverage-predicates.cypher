// coverage-predicates: the predicates (or types) of relations between entities that are not in a list, with how many relations each has.
// With an empty list: every predicate.
//
// :param covered => []            -- LIST OF STRING: predicates that a set of questions covers
//
// returns: predicate STRING, relations INTEGER
// mode: read
MATCH (s:@Endpoint)-[r]->(t:@Endpoint)
WHERE @is(r, RELATION)
WITH left(@label(r), 200) AS predicate, count(*) AS relations
WHERE NOT predicate IN $covered
RETURN predicate, relations
ORDER BY relations DESC, predicate
