// decide-merges: keeps what a person decided about merges: undone, or applied again.
//
// :param graph => 'novels'                           -- STRING: the graph's name
// :param ids => ['m-0123456789ab']                   -- LIST OF STRING: ids of merges
// :param status => 'undone'                          -- STRING: undone or applied
//
// returns: decided INTEGER
// mode: write
UNWIND $ids AS id
MATCH (m:__KgevalMerge__ {graph: $graph, id: id})
SET m.status = $status
RETURN count(m) AS decided
