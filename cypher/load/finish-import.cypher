// finish-import: takes the mark away and keeps what was loaded, so that the same input is known again.
//
// :param name => 'novels'                            -- STRING: the graph's name
// :param fingerprints => ['5891b5b5']                -- LIST OF STRING: SHA-256 of every input that is in the graph
// :param nodes => 3                                  -- INTEGER: nodes of the graph now
//
// returns: finished INTEGER
// mode: write
MATCH (g:__KgevalGraph__ {name: $name})
SET g.status = 'ready', g.fingerprints = $fingerprints, g.fingerprint = last($fingerprints), g.nodes = $nodes, g.finished = datetime()
RETURN count(g) AS finished
