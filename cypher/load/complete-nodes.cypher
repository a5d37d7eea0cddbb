// complete-nodes: gives nodes that were only known by name (dangling ends, chunks without text) what is now known of them.
//
// :param rows => [['4:00000000-0000-0000-0000-000000000000:0', ['Person'], {type: 'Person'}, {}]] -- LIST: element id, labels, own and further properties
//
// returns: completed INTEGER
// mode: write
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row[0]
SET n:$(row[1]), n += row[3], n += row[2], n.dangling = null
RETURN count(n) AS completed
