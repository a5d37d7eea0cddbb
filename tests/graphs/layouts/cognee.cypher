// cognee: 3 entities, 2 relations, 1 chunk, 1 document; types are nodes of their own
CREATE (d:__Node__:TextDocument {id: 'd', name: 'a.txt', type: 'TextDocument'}),
  (c:__Node__:DocumentChunk {id: 'c0', text: 'Ada wrote about the engine.', chunk_index: 0, type: 'DocumentChunk'}), (c)-[:is_part_of]->(d),
  (t:__Node__:EntityType {id: 't1', name: 'person'}), (m:__Node__:EntityType {id: 't2', name: 'machine'}), (s:__Node__:TextSummary {id: 's', text: 'x'}),
  (s)-[:made_from]->(c), (a:__Node__:Entity {id: 'a', name: 'ada', description: 'writer', type: 'Entity', source_ref_keys: ['c0']}),
  (b:__Node__:Entity {id: 'b', name: 'charles', source_ref_keys: ['c0']}), (e:__Node__:Entity {id: 'e', name: 'engine', source_ref_keys: ['c0']}),
  (c)-[:contains]->(a), (c)-[:contains]->(b), (c)-[:contains]->(e), (a)-[:is_a]->(t), (b)-[:is_a]->(t), (e)-[:is_a]->(m),
  (a)-[:wrote_about {relationship_name: 'wrote_about', source_node_id: 'a', target_node_id: 'e'}]->(e), (b)-[:built]->(e)
