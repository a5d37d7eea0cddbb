// begin-import: sets the mark that a graph is being loaded.
// Nothing comes back begun where another import holds the mark: its status is none of $from.
//
// :param name => 'novels'                            -- STRING: the graph's name
// :param from => ['new', 'ready']                    -- LIST OF STRING: statuses to begin from
// :param about => {source: 'graph.csv', format: 'triples'} -- MAP: what is loaded, by what
//
// returns: begun INTEGER
// mode: write
MERGE (g:__KgevalGraph__ {name: $name})
WITH g WHERE coalesce(g.status, 'new') IN $from
SET g += $about, g.status = 'loading', g.started = datetime()
RETURN count(g) AS begun
