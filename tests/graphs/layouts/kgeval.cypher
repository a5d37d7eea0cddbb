// kgeval import, graph demo: 3 entities of 2 types, 2 relations, 1 chunk, 1 document
CREATE (:__KgevalGraph__ {name: 'demo'}), (d:Document:demo {id: 'd', title: 'a.txt'}), (c:Chunk:demo {id: 'c0', index: 0, text: 'Ada wrote about the engine.'}),
  (c)-[:FROM_DOCUMENT]->(d), (a:__Entity__:Person:demo {id: 'a', name: 'Ada', name_key: 'ada', type: 'Person', aliases: ['Lovelace']}),
  (b:__Entity__:Person:demo {id: 'b', name: 'Charles', name_key: 'charles', type: 'Person'}),
  (e:__Entity__:Machine:demo {id: 'e', name: 'Engine', name_key: 'engine', type: 'Machine', description: 'an engine'}),
  (a)-[:FROM_CHUNK]->(c), (b)-[:FROM_CHUNK]->(c), (e)-[:FROM_CHUNK]->(c),
  (a)-[:WROTE_ABOUT {predicate: 'wrote about', weight: 1.0, chunk_ids: ['c0']}]->(e), (b)-[:BUILT {predicate: 'built', chunk_ids: ['c0']}]->(e)
