// finish-build: takes the mark of a running build away and keeps what was built, and what that took.
// Nothing comes back finished where another build began in the meantime.
//
// :param name => 'novels'                            -- STRING: the graph's name
// :param run => '2f1c'                               -- STRING: this run
// :param about => {chunk_size: 600, seconds: 12.5}   -- MAP: settings and figures; null takes a property away
//
// returns: finished INTEGER
// mode: write
MATCH (g:__KgevalGraph__ {name: $name, run: $run})
SET g += $about, g.status = 'ready', g.finished = datetime()
WITH g
OPTIONAL MATCH (n) WHERE $name IN labels(n)
WITH g, count(n) AS nodes
SET g.nodes = nodes
RETURN count(g) AS finished
