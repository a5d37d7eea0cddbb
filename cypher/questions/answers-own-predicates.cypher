// answers-own-predicates: the predicates that given entities have, in either direction.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
//
// returns: predicate STRING
// mode: read
MATCH (e)-[r]-()
WHERE elementId(e) IN $ids AND type(r) IN $layout.relation_types
RETURN DISTINCT left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS predicate
ORDER BY predicate
