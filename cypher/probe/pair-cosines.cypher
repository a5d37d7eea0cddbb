// pair-cosines: the cosine of the stored embeddings of two entities, for pairs of them; no row where one has no usable vector.
//
// :param layout => {...}                       -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param pairs => [['4:x:1', '4:x:2']]         -- LIST OF LIST: two element ids each
//
// returns: a STRING, b STRING, cosine FLOAT
// mode: read
UNWIND $pairs AS pair
MATCH (a) WHERE elementId(a) = pair[0]
MATCH (b) WHERE elementId(b) = pair[1]
WITH pair, a[$layout.embedding_key] AS v, b[$layout.embedding_key] AS w
WHERE (v IS :: LIST<FLOAT NOT NULL> NOT NULL OR v IS :: LIST<INTEGER NOT NULL> NOT NULL)
  AND (w IS :: LIST<FLOAT NOT NULL> NOT NULL OR w IS :: LIST<INTEGER NOT NULL> NOT NULL)
  AND size(v) = size(w)
  AND 0 < reduce(s = 0.0, x IN v | s + x * x) < 1.0 / 0.0 AND 0 < reduce(s = 0.0, x IN w | s + x * x) < 1.0 / 0.0
RETURN pair[0] AS a, pair[1] AS b, 2 * vector.similarity.cosine(v, w) - 1 AS cosine
