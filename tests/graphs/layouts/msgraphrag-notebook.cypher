// MS GraphRAG import notebook: 3 entities of 2 types, 2 relations, 1 chunk, 1 document
CREATE (d:__Document__ {id: 'd', title: 'a.txt'}), (c:__Chunk__ {id: 'c0', text: 'Ada wrote about the engine.', n_tokens: 6}), (c)-[:PART_OF]->(d),
  (a:__Entity__:PERSON {id: 'u1', name: 'ADA', description: 'writer', human_readable_id: 0, description_embedding: [0.1, 0.2]}),
  (b:__Entity__:PERSON {id: 'u2', name: 'CHARLES', description: 'builder', human_readable_id: 1}),
  (e:__Entity__:MACHINE {id: 'u3', name: 'ENGINE', description: 'an engine', human_readable_id: 2}),
  (c)-[:HAS_ENTITY]->(a), (c)-[:HAS_ENTITY]->(b), (c)-[:HAS_ENTITY]->(e),
  (a)-[:RELATED {id: 'r1', weight: 1.0, rank: 2, description: 'wrote about', text_unit_ids: ['c0']}]->(e),
  (b)-[:RELATED {id: 'r2', weight: 1.0, rank: 2, description: 'built', text_unit_ids: ['c0']}]->(e),
  (a)-[:IN_COMMUNITY]->(:__Community__ {community: '0', level: 0, title: 'Engines'}), (:__Covariate__ {id: 'v', status: 'TRUE'})
