// link-sources: links entities to the chunks that mention them, with the number of mentions and where the first one stands.
//
// :param rows => [['4:00000000-0000-0000-0000-000000000000:0', '4:00000000-0000-0000-0000-000000000000:1', {mentions: 2, start: 0, end: 4}]] -- LIST: element ids of both ends, properties
//
// returns: linked INTEGER
// mode: write
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row[0]
MATCH (b) WHERE elementId(b) = row[1]
CREATE (a)-[r:FROM_CHUNK]->(b)
SET r = row[2]
RETURN count(r) AS linked
