// write-pair-similar: joins input and context entities of a written pair that are alike.
//
// :param id => 'q1 | s | faithfulness'                -- STRING: the pair
// :param rows => [[0, 1, {cosine: 0.9, cost: 0.1}]]   -- LIST: number of the input entity, number of the context entity, properties
//
// returns: written INTEGER
// mode: write
MATCH (p:KgevalPair {id: $id})-[:HAS]->(n)
WITH collect(n) AS nodes
WITH COLLECT { UNWIND nodes AS n RETURN n ORDER BY n.number } AS nodes
UNWIND $rows AS row
WITH nodes[row[0]] AS a, nodes[row[1]] AS b, row[2] AS more
CREATE (a)-[x:SIMILAR]->(b)
SET x += more
RETURN count(x) AS written
