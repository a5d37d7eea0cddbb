// built-documents: the documents of a graph that `kgeval build` made.
//
// :param graph => 'novels'                           -- STRING: the graph's name, a label of its nodes
//
// returns: element_id STRING, id STRING, title STRING, hash STRING, metadata STRING, made_by STRING, words INTEGER,
//   tokens INTEGER, chunks INTEGER
// mode: read
MATCH (d:Document) WHERE $graph IN labels(d)
RETURN elementId(d) AS element_id, toStringOrNull(d.id) AS id, d.title AS title, d.hash AS hash, d.metadata AS metadata,
       coalesce(d.made_by, '') AS made_by, coalesce(d.words, 0) AS words, coalesce(d.tokens, 0) AS tokens,
       d.chunks AS chunks
