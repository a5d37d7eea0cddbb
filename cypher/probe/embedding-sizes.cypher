// embedding-sizes: how many named entities have an embedding of each length, the commonest length first (of two as common, the longer one, as embedding-dimension has it); only usable vectors count.
// Usable: a list of numbers, all finite, not all zero.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: dimension INTEGER, entities INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  AND @name(e) IS NOT NULL
WITH e[$layout.embedding_key] AS v
// the type is asked inside of CASE: the planner may turn the parts of a WHERE round, and a text cannot be multiplied
WITH CASE WHEN v IS :: LIST<FLOAT NOT NULL> NOT NULL OR v IS :: LIST<INTEGER NOT NULL> NOT NULL THEN v END AS v
WHERE CASE WHEN v IS NOT NULL THEN 0 < reduce(s = 0.0, x IN v | s + x * x) < 1.0 / 0.0 ELSE false END
RETURN size(v) AS dimension, count(*) AS entities
ORDER BY entities DESC, dimension DESC
