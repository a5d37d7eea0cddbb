// imported-nodes: the nodes of one imported graph, with their ids in the source.
// `incomplete` nodes are known by name only: dangling ends, and chunks without text.
//
// :param graph => 'novels'                           -- STRING: the graph's name, a label of its nodes
//
// returns: element_id STRING, kind STRING, id STRING, incomplete BOOLEAN
// mode: read
MATCH (n) WHERE $graph IN labels(n)
WITH n, head([l IN ['__Entity__', 'Chunk', 'Document'] WHERE l IN labels(n)]) AS kind
WHERE kind IS NOT NULL
RETURN elementId(n) AS element_id, kind, toStringOrNull(n.id) AS id,
       coalesce(n.dangling, false) = true OR (kind = 'Chunk' AND n.text IS NULL) AS incomplete
