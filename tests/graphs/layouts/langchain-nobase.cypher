// LangChain without base label, include_source=True: 3 entities of 2 types, 2 relations, 1 source
CREATE (d:Document {id: 'md5', text: 'Ada wrote about the engine of Charles.', source: 'a.txt'}),
  (a:Person {id: 'Ada'}), (b:Person {id: 'Charles'}), (e:Machine {id: 'Engine'}),
  (d)-[:MENTIONS]->(a), (d)-[:MENTIONS]->(b), (d)-[:MENTIONS]->(e),
  (a)-[:WROTE_ABOUT]->(e), (b)-[:BUILT]->(e)
