// write-pair: the node that stands for a pair of texts whose graph is written back.
//
// :param id => 'q1 | s | faithfulness' -- STRING: the pair
// :param about => {question: 'q1'}     -- MAP: what it is
//
// returns: id STRING
// mode: write
MERGE (p:KgevalPair {id: $id})
SET p += $about
RETURN p.id AS id
