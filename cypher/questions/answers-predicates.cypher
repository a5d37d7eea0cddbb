// answers-predicates: which predicates the entities of each type have, in which direction, and at which types they end.
// What a type often has and one entity of it has not, a negative question can ask for.
//
// returns: type STRING, predicate STRING, outgoing BOOLEAN, entities INTEGER, other STRING
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION) AND a <> b
WITH a, b, left(@label(r), 200) AS predicate
UNWIND [[a, b, true], [b, a, false]] AS side
WITH side[0] AS e, side[1] AS o, side[2] AS outgoing, predicate
WITH e, outgoing, predicate, left(@type(e), 200) AS type,
     left(@type(o), 200) AS other
WITH type, predicate, outgoing, other, count(DISTINCT e) AS own
ORDER BY own DESC, other
WITH type, predicate, outgoing, sum(own) AS entities, head(collect(other)) AS other
RETURN type, predicate, outgoing, entities, other
ORDER BY type, entities DESC, predicate, outgoing
