// write-pair-nodes: entities and relations of a written pair.
//
// :param id => 'q1 | s | faithfulness'                                            -- STRING: the pair
// :param rows => [{number: 0, kind: 'entity', name: 'Ada', side: 'input'}]        -- LIST OF MAP: properties of each node
//
// returns: written INTEGER
// mode: write
MATCH (p:KgevalPair {id: $id})
UNWIND $rows AS row
CALL (p, row) {
  WITH p, row WHERE row.kind = 'entity'
  CREATE (n:KgevalPairEntity {pair: $id})<-[:HAS]-(p)
  SET n += row
  RETURN n
  UNION
  WITH p, row WHERE row.kind = 'relation'
  CREATE (n:KgevalPairRelation {pair: $id})<-[:HAS]-(p)
  SET n += row
  RETURN n
}
RETURN count(n) AS written
