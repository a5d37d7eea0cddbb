// random-walks: one random walk from each given node, all in one call; each step takes any relation of the node alike.
// Not asked of the client, which fetches each walk as a path too: every node with all its properties, embeddings and texts.
// Concurrency 1 and a seed: the same projected graph gives the same walks. A walk ends early only where there is no relation.
//
// :param graph_name => 'mine'     -- STRING: a graph to walk on (walk-graph, or the native projection)
// :param sources => [0]           -- LIST OF INTEGER: ids of nodes to start from
// :param nodes => 101             -- INTEGER: nodes of a walk, one more than its steps
// :param seed => 0                -- INTEGER: random seed
//
// returns: walks LIST OF LIST
// needs: gds.randomWalk.stream
// mode: read
CALL gds.randomWalk.stream($graph_name, {sourceNodes: $sources, walkLength: $nodes, walksPerNode: 1, randomSeed: $seed, concurrency: 1, logProgress: false})
YIELD nodeIds
RETURN collect(nodeIds) AS walks
