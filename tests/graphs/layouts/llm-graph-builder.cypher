// LLM Graph Builder: 3 entities of 2 types, 3 relations (one of type PART_OF between entities), 2 chunks, 1 document
CREATE (d:Document {fileName: 'a.pdf', fileType: 'pdf', status: 'Completed', model: 'm', nodeCount: 3}),
  (c0:Chunk {id: 'sha0', text: 'Ada wrote notes.', position: 1, fileName: 'a.pdf', embedding: [0.1, 0.2]}),
  (c1:Chunk {id: 'sha1', text: 'Charles built an engine.', position: 2, fileName: 'a.pdf', embedding: [0.3, 0.2]}),
  (c0)-[:PART_OF]->(d), (c1)-[:PART_OF]->(d), (d)-[:FIRST_CHUNK]->(c0), (c0)-[:NEXT_CHUNK]->(c1), (c0)-[:SIMILAR {score: 0.9}]->(c1),
  (a:__Entity__:Person {id: 'Ada', description: 'writer', embedding: [0.1, 0.2]}), (b:__Entity__:Person {id: 'Charles'}),
  (e:__Entity__:Machine {id: 'Engine'}), (c0)-[:HAS_ENTITY]->(a), (c1)-[:HAS_ENTITY]->(b), (c1)-[:HAS_ENTITY]->(e),
  (a)-[:WROTE_ABOUT]->(e), (b)-[:BUILT]->(e), (e)-[:PART_OF]->(b),
  (k:__Community__ {id: '0-1', level: 0, title: 'Engines', summary: 'People and engines'}), (a)-[:IN_COMMUNITY]->(k), (b)-[:IN_COMMUNITY]->(k),
  (:Session {id: 's'})-[:LAST_MESSAGE]->(:Message {type: 'human', content: 'Who?'})
