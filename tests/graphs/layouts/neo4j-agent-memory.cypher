// neo4j-agent-memory: 3 entities of 2 types, 2 relations (SAME_AS is none), 1 message
CREATE (v:Conversation {id: 'v', session_id: 's1'})-[:HAS_MESSAGE]->(m:Message {id: 'm1', role: 'user', content: 'Ada wrote about the engine.'}),
  (v)-[:FIRST_MESSAGE]->(m), (a:Entity:Person {id: 'a', name: 'Ada', type: 'PERSON', canonical_name: 'Ada Lovelace', aliases: ['A. Lovelace'], name_key: 'ada', confidence: 0.9}),
  (b:Entity:Person {id: 'b', name: 'Countess', type: 'PERSON', canonical_name: 'Ada Lovelace', name_key: 'countess'}),
  (e:Entity:Object {id: 'e', name: 'Engine', type: 'OBJECT', canonical_name: 'Engine', name_key: 'engine'}), (b)-[:SAME_AS {confidence: 0.8}]->(a),
  (m)-[:MENTIONS {confidence: 0.9}]->(a), (e)-[:EXTRACTED_FROM {start_pos: 20}]->(m), (e)-[:EXTRACTED_BY]->(:Extractor {name: 'x'}),
  (a)-[:RELATED_TO {type: 'WROTE_ABOUT', confidence: 0.7, evidence: ['wrote'], source_message_ids: ['m1'], valid_from: datetime('1843-01-01')}]->(e),
  (b)-[:RELATED_TO {type: 'KNOWS', confidence: 0.4, evidence: [], source_message_ids: ['m1']}]->(e),
  (:Preference {id: 'p', preference: 'tea'})-[:ABOUT]->(a), (:ReasoningTrace {id: 't', task: 'x'})-[:HAS_STEP]->(:ReasoningStep {id: 'r'})-[:TOUCHED]->(a)
