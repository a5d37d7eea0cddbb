// embedding-sizes: how many named entities have an embedding of each length, the commonest length first (of two as common, the longer one, as embedding-dimension has it); only usable vectors count.
// Usable: a list of numbers, all finite, not all zero.
//
// returns: dimension INTEGER, entities INTEGER
// mode: read
MATCH (e:@Entity)
WHERE @name(e) IS NOT NULL
WITH e.@embedding_key AS v
// the type is asked inside of CASE: the planner may turn the parts of a WHERE round, and a text cannot be multiplied
WITH CASE WHEN v IS :: LIST<FLOAT NOT NULL> NOT NULL OR v IS :: LIST<INTEGER NOT NULL> NOT NULL THEN v END AS v
WHERE CASE WHEN v IS NOT NULL THEN 0 < reduce(s = 0.0, x IN v | s + x * x) < 1.0 / 0.0 ELSE false END
RETURN size(v) AS dimension, count(*) AS entities
ORDER BY entities DESC, dimension DESC
