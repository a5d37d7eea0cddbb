// relations-by-type: how many relations between entities there are of each label, and how many of them are self-loops.
//
// returns: type STRING, count INTEGER, self_loops INTEGER
// mode: read
CALL () {
  // relations join entities only: nothing has to be asked of their ends
  WITH 1 AS once WHERE @relations_join_entities_only
  MATCH ()-[r]->()
  WHERE @is(r, RELATION)
  RETURN @label(r) AS named, count(*) AS uses, 0 AS loops
  UNION ALL
  WITH 1 AS once WHERE @relations_join_entities_only
  MATCH (s)-[r]->(s)
  WHERE @is(r, RELATION)
  RETURN @label(r) AS named, 0 AS uses, count(*) AS loops
  UNION ALL
  WITH 1 AS once WHERE NOT @relations_join_entities_only
  MATCH (s:@Entity)-[r]->(t:@Entity)
  WHERE @is(r, RELATION)
  RETURN @label(r) AS named, count(*) AS uses,
         sum(CASE WHEN s = t THEN 1 ELSE 0 END) AS loops
}
RETURN left(named, 200) AS type, sum(uses) AS count, sum(loops) AS self_loops
ORDER BY count DESC, type
