// built-entities: the entities of a graph that `kgeval build` made.
// Nodes without `mentions` were written by somebody else and are left out.
//
// :param graph => 'novels'                           -- STRING: the graph's name, a label of its nodes
//
// returns: element_id STRING, labels LIST OF STRING, id STRING, name STRING, name_key STRING, type STRING, description STRING,
//   aliases LIST OF STRING, mentions INTEGER
// mode: read
MATCH (e:__Entity__) WHERE $graph IN labels(e) AND e.mentions IS NOT NULL
RETURN elementId(e) AS element_id, labels(e) AS labels, e.id AS id, e.name AS name, e.name_key AS name_key, e.type AS type,
       e.description AS description, e.aliases AS aliases, e.mentions AS mentions
