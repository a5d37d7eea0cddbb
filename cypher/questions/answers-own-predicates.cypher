// answers-own-predicates: the predicates that given entities have, in either direction.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
//
// returns: predicate STRING
// mode: read
MATCH (e)-[r]-()
WHERE elementId(e) IN $ids AND @is(r, RELATION)
RETURN DISTINCT left(@label(r), 200) AS predicate
ORDER BY predicate
