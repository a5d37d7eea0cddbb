// graph-size: how many entities and relations the graph has.
//
// returns: entities INTEGER, relations INTEGER
// mode: read
MATCH (e:@Entity)
RETURN count(e) AS entities, sum(COUNT {
  (e)-[r:@RELATION]->(o)
  WHERE @is(o, Endpoint)
}) AS relations
