// built-merges: the decisions of entity resolution in a graph that `kgeval build` made.
// `status` undone: a person took the merge back.
//
// :param graph => 'novels'                           -- STRING: the graph's name
//
// returns: element_id STRING, id STRING, kept STRING, merged STRING, type STRING, level STRING, score FLOAT, why STRING, left STRING,
//   right STRING, status STRING
// mode: read
MATCH (m:__KgevalMerge__ {graph: $graph})
RETURN elementId(m) AS element_id, m.id AS id, m.kept AS kept, m.merged AS merged, m.type AS type, m.level AS level,
       m.score AS score, m.why AS why, m.left AS left, m.right AS right, m.status AS status
ORDER BY level, kept, merged, id
