// degree-histogram: how many entities have each total degree (parallel relations count each, a self-loop counts 2).
//
// returns: degree INTEGER, entities INTEGER
// mode: read
MATCH (e:@Entity)
WITH e, COUNT {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE @is(o, Endpoint)
} + COUNT { MATCH (e)-[r:@RELATION]->(e) } AS degree
RETURN degree, count(*) AS entities
ORDER BY degree
