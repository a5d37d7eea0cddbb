// set-build: keeps the settings that a build in progress works with.
//
// :param name => 'novels'                            -- STRING: the graph's name
// :param run => '2f1c'                               -- STRING: this run
// :param about => {chunk_size: 600}                  -- MAP: settings; null takes a property away
//
// returns: kept INTEGER
// mode: write
MATCH (g:__KgevalGraph__ {name: $name, run: $run})
SET g += $about
RETURN count(g) AS kept
