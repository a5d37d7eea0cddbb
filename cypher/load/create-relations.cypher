// create-relations: writes relations between nodes given by element id. Rows that repeat stay parallel relations.
//
// :param rows => [['4:00000000-0000-0000-0000-000000000000:0', '4:00000000-0000-0000-0000-000000000000:1', 'KNOWS', {predicate: 'knows'}, {}]] -- LIST: both ends, type, own and further properties
//
// returns: created INTEGER
// mode: write
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row[0]
MATCH (b) WHERE elementId(b) = row[1]
CREATE (a)-[r:$(row[2])]->(b)
SET r = row[4], r += row[3]
RETURN count(r) AS created
