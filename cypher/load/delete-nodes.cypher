// delete-nodes: deletes nodes of one imported graph, with their relations. Nodes of other graphs are passed over.
//
// :param graph => 'novels'                           -- STRING: the graph's name, a label of its nodes
// :param ids => ['4:00000000-0000-0000-0000-000000000000:0'] -- LIST OF STRING: element ids
//
// returns: deleted INTEGER
// mode: write
UNWIND $ids AS id
MATCH (n) WHERE elementId(n) = id AND $graph IN labels(n) AND any(l IN labels(n) WHERE l IN ['__Entity__', 'Chunk', 'Document'])
DETACH DELETE n
RETURN count(*) AS deleted
