// link-mentions: links entities to the chunks that mention them; a link that is there stays alone.
//
// :param rows => [['4:00000000-0000-0000-0000-000000000000:0', '4:00000000-0000-0000-0000-000000000000:1']] -- LIST: element ids of both ends
//
// returns: linked INTEGER
// mode: write
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row[0]
MATCH (b) WHERE elementId(b) = row[1]
MERGE (a)-[r:FROM_CHUNK]->(b)
RETURN count(r) AS linked
