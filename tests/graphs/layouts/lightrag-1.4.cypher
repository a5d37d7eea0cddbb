// LightRAG 1.4, workspace base: 3 entities (one placeholder), 2 relations; the type is a label too
CREATE (a:base:person {entity_id: 'Ada', entity_type: 'person', description: 'writer<SEP>countess', source_id: 'chunk-1<SEP>chunk-2'}),
  (e:base:machine {entity_id: 'Engine', entity_type: 'machine', description: 'an engine', source_id: 'chunk-1'}),
  (u:base:UNKNOWN {entity_id: 'Mill', entity_type: 'UNKNOWN', description: 'has a mill', source_id: 'chunk-2'}),
  (a)-[:DIRECTED {weight: 1.0, description: 'Ada wrote about it', keywords: 'writing,notes', source_id: 'chunk-1'}]->(e),
  (u)-[:DIRECTED {weight: 1.0, description: 'has a mill', keywords: 'part', source_id: 'chunk-2'}]->(e)
