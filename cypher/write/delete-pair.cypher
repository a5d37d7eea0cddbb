// delete-pair: deletes the graph of a pair that was written back; null deletes those of all pairs.
//
// :param id => 'q1 | s | faithfulness' -- STRING: the pair, or null
//
// returns: deleted INTEGER
// mode: write
MATCH (p:KgevalPair)
WHERE $id IS NULL OR p.id = $id
OPTIONAL MATCH (p)-[:HAS]->(n)
WHERE n:KgevalPairEntity OR n:KgevalPairRelation
WITH collect(DISTINCT p) + collect(DISTINCT n) AS gone
CALL (gone) {
  UNWIND gone AS x
  DETACH DELETE x
}
RETURN size(gone) AS deleted
