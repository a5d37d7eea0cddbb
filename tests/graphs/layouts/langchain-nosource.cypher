// LangChain, baseEntityLabel=True, no sources: 3 entities of 2 types, 2 relations
CREATE (a:__Entity__:Person {id: 'Ada'}), (b:__Entity__:Person {id: 'Charles'}), (e:__Entity__:Machine {id: 'Engine'}),
  (a)-[:WROTE_ABOUT]->(e), (b)-[:BUILT]->(e)
