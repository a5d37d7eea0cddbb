// embedding-graph: projects the named entities with a usable embedding into GDS, without relations, for nearest neighbours.
// Usable: $dimension numbers, all finite, not all zero.
//
// :param graph_name => 'mine'     -- STRING: name of the projected graph; drop it with gds.graph.drop
// :param dimension => 384         -- INTEGER: length of the vectors that are compared
//
// returns: g MAP
// needs: gds.graph.project
// mode: read
MATCH (e:@Entity)
WHERE @name(e) IS NOT NULL
WITH e, e.@embedding_key AS v
// a text is no list: its type is asked before anything is computed with it, since the planner may turn the parts of a WHERE round.
// knn takes no whole numbers
WITH e, CASE WHEN v IS :: LIST<FLOAT NOT NULL> NOT NULL THEN v
             WHEN v IS :: LIST<INTEGER NOT NULL> NOT NULL THEN [x IN v | toFloat(x)] END AS v
WHERE CASE WHEN v IS NOT NULL AND size(v) = $dimension THEN 0 < reduce(s = 0.0, x IN v | s + x * x) < 1.0 / 0.0 ELSE false END
RETURN gds.graph.project($graph_name, e, null, {sourceNodeProperties: {embedding: v}, targetNodeProperties: null}) AS g
