// write-pair-head: joins relations of a written pair with their heads.
//
// :param id => 'q1 | s | faithfulness' -- STRING: the pair
// :param rows => [[0, 2, {cost: 0.1}]] -- LIST: number of the entity, number of the relation, properties
//
// returns: written INTEGER
// mode: write
MATCH (p:KgevalPair {id: $id})-[:HAS]->(n)
WITH collect(n) AS nodes
WITH COLLECT { UNWIND nodes AS n RETURN n ORDER BY n.number } AS nodes
UNWIND $rows AS row
WITH nodes[row[0]] AS e, nodes[row[1]] AS r, row[2] AS more
CREATE (e)-[x:HEAD]->(r)
SET x += more
RETURN count(x) AS written
