// LangChain as it is by default, no base label, no sources: 3 entities of 2 types, 2 relations
CREATE (a:Person {id: 'Ada'}), (b:Person {id: 'Charles'}), (e:Machine {id: 'Engine'}),
  (a)-[:WROTE_ABOUT]->(e), (b)-[:BUILT]->(e)
