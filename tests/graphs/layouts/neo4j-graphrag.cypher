// neo4j-graphrag-python: 3 entities of 2 types, 2 relations, 2 chunks, 1 document
CREATE (d:__KGBuilder__:Document {path: 'a.txt', createdAt: '2026-01-01T00:00:00'}),
  (c0:__KGBuilder__:Chunk {text: 'Ada wrote notes.', index: 0, embedding: [0.1, 0.2]}),
  (c1:__KGBuilder__:Chunk {text: 'Charles built an engine.', index: 1, embedding: [0.3, 0.2]}),
  (c0)-[:FROM_DOCUMENT]->(d), (c1)-[:FROM_DOCUMENT]->(d), (c0)-[:NEXT_CHUNK]->(c1),
  (a:__KGBuilder__:__Entity__:Person {name: 'Ada'}), (b:__KGBuilder__:__Entity__:Person {name: 'Charles'}),
  (e:__KGBuilder__:__Entity__:Machine {name: 'Analytical Engine'}),
  (a)-[:FROM_CHUNK]->(c0), (b)-[:FROM_CHUNK]->(c1), (e)-[:FROM_CHUNK]->(c1),
  (a)-[:WROTE_ABOUT]->(e), (b)-[:BUILT]->(e)
