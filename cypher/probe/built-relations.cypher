// built-relations: the relations between the entities of a graph that `kgeval build` made.
// Relations without `chunk_ids` were written by somebody else and are left out. `source` and `target` are element ids.
//
// :param graph => 'novels'                           -- STRING: the graph's name, a label of its nodes
//
// returns: element_id STRING, source STRING, target STRING, type STRING, predicate STRING, description STRING, weight FLOAT,
//   chunk_ids LIST OF STRING
// mode: read
MATCH (a:__Entity__)-[r]->(b:__Entity__) WHERE $graph IN labels(a) AND $graph IN labels(b) AND r.chunk_ids IS NOT NULL
RETURN elementId(r) AS element_id, elementId(a) AS source, elementId(b) AS target, type(r) AS type, r.predicate AS predicate,
       r.description AS description, r.weight AS weight, r.chunk_ids AS chunk_ids
