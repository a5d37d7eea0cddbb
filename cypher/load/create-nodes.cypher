// create-nodes: writes nodes, each row a position, its labels and its properties.
//
// :param rows => [[0, ['__Entity__', 'novels'], {id: 'Ahab', name: 'Ahab'}, {ship: 'Pequod'}]] -- LIST: position, labels, own and further properties
//
// returns: at INTEGER, element_id STRING
// mode: write
UNWIND $rows AS row
CREATE (n:$(row[1]))
SET n = row[3], n += row[2]
RETURN row[0] AS at, elementId(n) AS element_id
