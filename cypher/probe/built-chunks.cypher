// built-chunks: the chunks of a graph that `kgeval build` made, with what was extracted from each, without their texts.
// `document` is null for a chunk whose document is gone.
//
// :param graph => 'novels'                           -- STRING: the graph's name, a label of its nodes
//
// returns: element_id STRING, id STRING, index INTEGER, start INTEGER, end INTEGER, tokens INTEGER, hash STRING, extraction STRING,
//   failure STRING, document STRING
// mode: read
MATCH (c:Chunk) WHERE $graph IN labels(c)
OPTIONAL MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
WITH c, min(elementId(d)) AS document
RETURN elementId(c) AS element_id, toStringOrNull(c.id) AS id, c.index AS index, c.start AS start, c.end AS end, c.tokens AS tokens,
       c.hash AS hash, c.extraction AS extraction, c.extraction_failure AS failure, document
