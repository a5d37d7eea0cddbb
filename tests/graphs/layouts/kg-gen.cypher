// kg-gen: 3 entities without types, 2 relations
CREATE (a:Entity {name: 'Ada'}), (b:Entity {name: 'Charles'}), (e:Entity {name: 'Engine'}),
  (a)-[:WROTE_ABOUT {predicate: 'wrote about'}]->(e), (b)-[:BUILT {predicate: 'built'}]->(e)
