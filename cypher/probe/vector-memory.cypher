// vector-memory: how much of the server's heap the search for entities with near embeddings will take, as GDS estimates it beforehand.
// GDS's estimate of a projection leaves out lists: 8 bytes a number and 24 a list are added. Nothing is projected for it.
//
// :param nodes => 1000            -- INTEGER: entities with a vector
// :param dimension => 384         -- INTEGER: numbers in a vector
// :param top_k => 10              -- INTEGER: neighbours to find for each
//
// returns: step STRING, bytes_min INTEGER, bytes_max INTEGER
// needs: gds.graph.project.estimate, gds.knn.stream.estimate
// mode: read
CALL gds.graph.project.estimate('*', '*', {nodeCount: $nodes, relationshipCount: 0}) YIELD bytesMin, bytesMax
WITH bytesMin, bytesMax, $nodes * (8 * $dimension + 24) AS lists
RETURN 'projection' AS step, bytesMin + lists AS bytes_min, bytesMax + lists AS bytes_max
UNION ALL
CALL gds.knn.stream.estimate(
  {nodeProjection: '*', relationshipProjection: '*', nodeCount: $nodes, relationshipCount: 0}, {nodeProperties: {embedding: 'COSINE'}, topK: $top_k}
) YIELD bytesMin, bytesMax
RETURN 'neighbours' AS step, bytesMin AS bytes_min, bytesMax AS bytes_max
