// a graph that somebody made by hand: 3 entities of 2 types, 2 relations
CREATE (a:Person {name: 'Ada'}), (b:Person {name: 'Charles'}), (e:Machine {title: 'Engine'}),
  (a)-[:WROTE_ABOUT]->(e), (b)-[:BUILT]->(e)
