// delete-relations: deletes relations at nodes of one imported graph, some at a time, so that super-nodes fit into memory.
//
// :param graph => 'novels'                           -- STRING: the graph's name, a label of its nodes
// :param ids => ['4:00000000-0000-0000-0000-000000000000:0'] -- LIST OF STRING: element ids of nodes
// :param most => 10000                               -- INTEGER: relations in one go
//
// returns: deleted INTEGER
// mode: write
UNWIND $ids AS id
MATCH (n)-[r]-()
WHERE elementId(n) = id AND $graph IN labels(n) AND any(l IN labels(n) WHERE l IN ['__Entity__', 'Chunk', 'Document'])
WITH DISTINCT r LIMIT toInteger($most)
DELETE r
RETURN count(*) AS deleted
