// Graphiti, group g1: 3 entities (2 with a type label), 2 relations (one expired), 1 episode
CREATE (p:Episodic {uuid: 'p1', name: 'talk', group_id: 'g1', source: 'text', content: 'Ada wrote about the engine.', entity_edges: ['r1']}),
  (a:Entity:Person {uuid: 'a', name: 'Ada', group_id: 'g1', summary: 'writer', name_embedding: [0.1, 0.2]}),
  (b:Entity:Person {uuid: 'b', name: 'Charles', group_id: 'g1', summary: 'builder'}), (e:Entity {uuid: 'e', name: 'Engine', group_id: 'g1', summary: ''}),
  (p)-[:MENTIONS {uuid: 'm', group_id: 'g1'}]->(a), (p)-[:MENTIONS]->(e), (:Episodic {uuid: 'p2', content: '', group_id: 'g1'})<-[:NEXT_EPISODE]-(p),
  (a)-[:RELATES_TO {uuid: 'r1', name: 'WROTE_ABOUT', fact: 'Ada wrote about the engine', episodes: ['p1'], group_id: 'g1', valid_at: datetime('1843-01-01')}]->(e),
  (b)-[:RELATES_TO {uuid: 'r2', name: 'BUILT', fact: 'Charles built it', episodes: ['p1'], group_id: 'g1', expired_at: datetime('2026-01-01'), invalid_at: datetime('2026-01-01')}]->(e),
  (:Community {uuid: 'k', name: 'Engines', group_id: 'g1'})-[:HAS_MEMBER]->(a)
