// near-embeddings: pairs of entities whose embeddings are near, nearest first; equal names (but for case and spaces at the ends) are no pair.
// Over a graph that embedding-graph projected. A pair can come twice, once from each side.
// The similarity of GDS is (1 + cosine) / 2. On one thread with a seed the pairs are the same each time; on more it takes none.
//
// :param graph_name => 'mine'     -- STRING: name of the projected graph
// :param top_k => 10              -- INTEGER: neighbours to find for each entity
// :param cutoff => 0.95           -- FLOAT: least similarity
// :param concurrency => 1         -- INTEGER: threads, at most 4 without a licence
// :param seed => 42               -- INTEGER: seed, null with more than one thread
// :param rows => 1000             -- INTEGER: pairs to return at most
//
// returns: a STRING, b STRING, similarity FLOAT
// needs: gds.knn.stream, gds.util.asNode
// mode: read
CALL gds.knn.stream($graph_name, {nodeProperties: {embedding: 'COSINE'}, topK: $top_k, similarityCutoff: $cutoff, concurrency: $concurrency,
  randomSeed: $seed, logProgress: false}) YIELD node1, node2, similarity
WITH node1, node2, similarity, gds.util.asNode(node1) AS one, gds.util.asNode(node2) AS other
WHERE toLower(trim(@name(one)))
   <> toLower(trim(@name(other)))
WITH CASE WHEN node1 < node2 THEN node1 ELSE node2 END AS a, CASE WHEN node1 < node2 THEN node2 ELSE node1 END AS b, similarity
WITH a, b, similarity ORDER BY similarity DESC, a, b LIMIT $rows
RETURN elementId(gds.util.asNode(a)) AS a, elementId(gds.util.asNode(b)) AS b, similarity
