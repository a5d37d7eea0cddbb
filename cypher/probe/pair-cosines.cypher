// pair-cosines: the cosine of the stored embeddings of two entities, for pairs of them; no row where one has no usable vector.
//
// :param pairs => [['4:x:1', '4:x:2']]         -- LIST OF LIST: two element ids each
//
// returns: a STRING, b STRING, cosine FLOAT
// mode: read
UNWIND $pairs AS pair
MATCH (a) WHERE elementId(a) = pair[0]
MATCH (b) WHERE elementId(b) = pair[1]
WITH pair, a.@embedding_key AS v, b.@embedding_key AS w
// the type is asked inside of CASE: the planner may turn the parts of a WHERE round, and a text cannot be multiplied
WITH pair, CASE WHEN v IS :: LIST<FLOAT NOT NULL> NOT NULL OR v IS :: LIST<INTEGER NOT NULL> NOT NULL THEN v END AS v,
     CASE WHEN w IS :: LIST<FLOAT NOT NULL> NOT NULL OR w IS :: LIST<INTEGER NOT NULL> NOT NULL THEN w END AS w
WHERE CASE WHEN v IS NOT NULL AND w IS NOT NULL AND size(v) = size(w)
           THEN 0 < reduce(s = 0.0, x IN v | s + x * x) < 1.0 / 0.0 AND 0 < reduce(s = 0.0, x IN w | s + x * x) < 1.0 / 0.0
           ELSE false END
RETURN pair[0] AS a, pair[1] AS b, 2 * vector.similarity.cosine(v, w) - 1 AS cosine
