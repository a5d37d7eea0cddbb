// embedding-graph: projects the named entities with a usable embedding into GDS, without relations, for nearest neighbours.
// Usable: $dimension numbers, all finite, not all zero. The example tells how element ids are made from internal ones.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
// :param dimension => 384         -- INTEGER: length of the vectors that are compared
//
// returns: nodes INTEGER, example STRING
// needs: gds.graph.project
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, e[$layout.embedding_key] AS v
WHERE any(k IN $layout.name_keys WHERE e[k] IS NOT NULL)
  AND (v IS :: LIST<FLOAT NOT NULL> NOT NULL OR v IS :: LIST<INTEGER NOT NULL> NOT NULL)
  AND size(v) = $dimension AND 0 < reduce(s = 0.0, x IN v | s + x * x) < 1.0 / 0.0
// knn takes no whole numbers
WITH e, CASE WHEN v IS :: LIST<INTEGER NOT NULL> NOT NULL THEN [x IN v | toFloat(x)] ELSE v END AS v
WITH gds.graph.project($graph_name, e, null, {sourceNodeProperties: {embedding: v}, targetNodeProperties: null}) AS g, min(elementId(e)) AS example
RETURN g.nodeCount AS nodes, example
