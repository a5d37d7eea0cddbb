// view-pair: the graph of a pair that was written back, to look at in Neo4j Browser.
//
// :param id => 'q1 | s | faithfulness' -- STRING: the pair
//
// returns: path PATH
// mode: read
MATCH path = (a)-[r]->(b)
WHERE a.pair = $id AND b.pair = $id AND type(r) IN ['HEAD', 'TAIL', 'SIMILAR'] AND (a:KgevalPairEntity OR a:KgevalPairRelation)
RETURN path
