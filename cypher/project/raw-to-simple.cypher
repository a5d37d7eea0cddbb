// raw-to-simple: makes the simple entity graph of a projected RAW one: undirected, one relation a pair (SIMPLE). RAW is dropped.
// GDS does in a second what sorting all pairs in Cypher takes ten for.
//
// :param graph_name => 'mine'     -- STRING: a graph projected by raw-graph or native-graph, with a relation at least
//
// returns: relationships INTEGER
// needs: gds.graph.relationships.toUndirected, gds.graph.relationships.drop
// mode: read
CALL gds.graph.relationships.toUndirected($graph_name, {relationshipType: 'RAW', mutateRelationshipType: 'SIMPLE', aggregation: 'SINGLE', logProgress: false})
YIELD relationshipsWritten
CALL gds.graph.relationships.drop($graph_name, 'RAW')
YIELD deletedRelationships
RETURN relationshipsWritten AS relationships
