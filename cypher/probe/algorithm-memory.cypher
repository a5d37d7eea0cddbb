// algorithm-memory: how much of the server's heap the graph algorithms of an audit will take, as GDS estimates it beforehand.
// For a graph of $nodes entities and $relations relations. The projection is reckoned as two undirected ones, with all relations and with
// one a pair: the directed one that the simple graph is made of takes less.
// Nothing is projected for it.
//
// :param nodes => 1000            -- INTEGER: entities
// :param relations => 5000        -- INTEGER: relations
//
// returns: step STRING, bytes_min INTEGER, bytes_max INTEGER
// needs: gds.graph.project.estimate, gds.wcc.stats.estimate, gds.localClusteringCoefficient.stats.estimate, gds.articulationPoints.stats.estimate, gds.bridges.stream.estimate, gds.louvain.stats.estimate, gds.leiden.stats.estimate
// mode: read
WITH {ALL: {type: '*', orientation: 'UNDIRECTED'}, SIMPLE: {type: '*', orientation: 'UNDIRECTED', aggregation: 'SINGLE'}} AS both
CALL gds.graph.project.estimate('*', both, {nodeCount: $nodes, relationshipCount: $relations}) YIELD bytesMin, bytesMax
RETURN 'projection' AS step, bytesMin AS bytes_min, bytesMax AS bytes_max
UNION ALL
WITH {nodeProjection: '*', relationshipProjection: {SIMPLE: {type: '*', orientation: 'UNDIRECTED'}}, nodeCount: $nodes, relationshipCount: 2 * $relations} AS graph
CALL gds.wcc.stats.estimate(graph, {}) YIELD bytesMin, bytesMax
RETURN 'components' AS step, bytesMin AS bytes_min, bytesMax AS bytes_max
UNION ALL
WITH {nodeProjection: '*', relationshipProjection: {SIMPLE: {type: '*', orientation: 'UNDIRECTED'}}, nodeCount: $nodes, relationshipCount: 2 * $relations} AS graph
CALL gds.localClusteringCoefficient.stats.estimate(graph, {}) YIELD bytesMin, bytesMax
RETURN 'simple' AS step, bytesMin AS bytes_min, bytesMax AS bytes_max
UNION ALL
WITH {nodeProjection: '*', relationshipProjection: {SIMPLE: {type: '*', orientation: 'UNDIRECTED'}}, nodeCount: $nodes, relationshipCount: 2 * $relations} AS graph
CALL gds.articulationPoints.stats.estimate(graph, {}) YIELD bytesMin, bytesMax
RETURN 'bridging' AS step, bytesMin AS bytes_min, bytesMax AS bytes_max
UNION ALL
WITH {nodeProjection: '*', relationshipProjection: {SIMPLE: {type: '*', orientation: 'UNDIRECTED'}}, nodeCount: $nodes, relationshipCount: 2 * $relations} AS graph
CALL gds.bridges.stream.estimate(graph, {}) YIELD bytesMin, bytesMax
RETURN 'bridging' AS step, bytesMin AS bytes_min, bytesMax AS bytes_max
UNION ALL
WITH {nodeProjection: '*', relationshipProjection: {SIMPLE: {type: '*', orientation: 'UNDIRECTED'}}, nodeCount: $nodes, relationshipCount: 2 * $relations} AS graph
CALL gds.louvain.stats.estimate(graph, {}) YIELD bytesMin, bytesMax
RETURN 'louvain' AS step, bytesMin AS bytes_min, bytesMax AS bytes_max
UNION ALL
WITH {nodeProjection: '*', relationshipProjection: {SIMPLE: {type: '*', orientation: 'UNDIRECTED'}}, nodeCount: $nodes, relationshipCount: 2 * $relations} AS graph
CALL gds.leiden.stats.estimate(graph, {}) YIELD bytesMin, bytesMax
RETURN 'leiden' AS step, bytesMin AS bytes_min, bytesMax AS bytes_max
