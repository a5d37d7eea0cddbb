// ms-graphrag-neo4j: 3 entities of 2 types, 3 relations (two parallel), 1 chunk
CREATE (c:__Chunk__ {id: 'c0', text: 'Ada wrote about the engine.'}),
  (a:__Entity__:PERSON {name: 'ADA', description: ['writer'], summary: 'writer', communities: [0]}),
  (b:__Entity__:PERSON {name: 'CHARLES', description: ['builder']}), (e:__Entity__:MACHINE {name: 'ENGINE', description: ['an engine']}),
  (c)-[:MENTIONS]->(a), (c)-[:MENTIONS]->(b), (c)-[:MENTIONS]->(e),
  (a)-[:RELATIONSHIP {description: 'wrote about', strength: 8}]->(e), (a)-[:RELATIONSHIP {description: 'described', strength: 7}]->(e),
  (b)-[:RELATIONSHIP {description: 'built', strength: 9}]->(e), (a)-[:SUMMARIZED_RELATIONSHIP {summary: 'wrote about'}]->(e),
  (a)-[:IN_COMMUNITY]->(:__Community__ {id: '0-0', level: 0, summary: 'Engines'})
