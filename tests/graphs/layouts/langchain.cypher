// LangChain, baseEntityLabel=True, include_source=True: 3 entities of 2 types, 2 relations, 1 source
CREATE (d:Document {id: 'md5', text: 'Ada wrote about the engine of Charles.', source: 'a.txt'}),
  (a:__Entity__:Person {id: 'Ada'}), (b:__Entity__:Person {id: 'Charles'}), (e:__Entity__:Machine {id: 'Engine'}),
  (d)-[:MENTIONS]->(a), (d)-[:MENTIONS]->(b), (d)-[:MENTIONS]->(e),
  (a)-[:WROTE_ABOUT]->(e), (b)-[:BUILT]->(e)
