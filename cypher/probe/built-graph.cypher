// built-graph: what the mark of a graph holds: what made it, with which settings, and what building it took.
// `seconds`, `calls`, tokens and `cost` are sums over all runs of `kgeval build`; the `last_` ones are of the last run.
//
// :param graph => 'novels'                           -- STRING: the graph's name
//
// returns: mark MAP
// mode: read
MATCH (g:__KgevalGraph__ {name: $graph})
RETURN properties(g) AS mark
