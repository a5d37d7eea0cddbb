// update-nodes: sets properties of nodes that are there, and exchanges labels; a null takes a property away.
//
// :param rows => [['4:00000000-0000-0000-0000-000000000000:0', {name: 'Ahab', description: null}, ['Whale'], ['Person']]] -- LIST: element id, properties, labels to take away, labels to add
//
// returns: updated INTEGER
// mode: write
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row[0]
SET n += row[1]
REMOVE n:$(row[2])
SET n:$(row[3])
RETURN count(n) AS updated
