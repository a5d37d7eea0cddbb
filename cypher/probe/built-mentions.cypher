// built-mentions: which chunks mention which entities of a graph that `kgeval build` made, and where.
//
// :param graph => 'novels'                           -- STRING: the graph's name, a label of its nodes
//
// returns: element_id STRING, entity STRING, chunk STRING, mentions INTEGER, start INTEGER, end INTEGER
// mode: read
MATCH (e:__Entity__)-[m:FROM_CHUNK]->(c:Chunk) WHERE $graph IN labels(e) AND e.mentions IS NOT NULL
RETURN elementId(m) AS element_id, elementId(e) AS entity, elementId(c) AS chunk, m.mentions AS mentions, m.start AS start, m.end AS end
