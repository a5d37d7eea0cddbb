// nano-graphrag, namespace work__chunk_entity_relation: 3 entities (one placeholder), 2 relations, quotes kept
CREATE (a:work__chunk_entity_relation:PERSON {id: '"ADA"', entity_type: '"PERSON"', description: '"writer"', source_id: 'chunk-1<SEP>chunk-2', communityIds: [0]}),
  (e:work__chunk_entity_relation:MACHINE {id: '"ENGINE"', entity_type: '"MACHINE"', description: '"an engine"', source_id: 'chunk-1'}),
  (u:work__chunk_entity_relation:UNKNOWN {id: '"MILL"', entity_type: '"UNKNOWN"', description: '"a mill"', source_id: 'chunk-2'}),
  (a)-[:RELATED {weight: 1.0, description: 'wrote about', source_id: 'chunk-1', order: 1}]->(e),
  (u)-[:RELATED {weight: 1.0, description: 'has', source_id: 'chunk-2', order: 1}]->(e)
