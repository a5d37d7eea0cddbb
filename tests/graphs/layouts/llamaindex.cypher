// LlamaIndex: 3 entities of 2 types, 2 relations, 1 chunk with text and 1 without (a dangling end), which joins 1 relation more
CREATE (c:__Node__:Chunk {id: 'c0', text: 'Ada wrote about the engine.', _node_content: '{}', _node_type: 'TextNode', ref_doc_id: 'd'}),
  (a:__Node__:__Entity__:PERSON {id: 'Ada', name: 'Ada', triplet_source_id: 'c0', embedding: [0.1, 0.2]}),
  (b:__Node__:__Entity__:PERSON {id: 'Charles', name: 'Charles', triplet_source_id: 'c0'}),
  (e:__Node__:__Entity__:MACHINE {id: 'Engine', name: 'Engine', triplet_source_id: 'c0'}), (x:__Node__:Chunk {id: 'Mill'}),
  (c)-[:MENTIONS]->(a), (c)-[:MENTIONS]->(b), (c)-[:MENTIONS]->(e), (c)-[:SOURCE]->(:__Node__:Chunk {id: 'd', text: 'whole'}),
  (a)-[:WROTE_ABOUT {triplet_source_id: 'c0'}]->(e), (b)-[:BUILT {triplet_source_id: 'c0'}]->(e), (e)-[:BUILT]->(x)
