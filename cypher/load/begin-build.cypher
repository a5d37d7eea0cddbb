// begin-build: sets the mark that a graph is being built. A build that was interrupted goes on under the new run's name.
// Nothing comes back begun where an import holds the mark and is not to be replaced.
//
// :param name => 'novels'                            -- STRING: the graph's name
// :param run => '2f1c'                               -- STRING: this run
// :param status => 'loading'                         -- STRING: loading, or replacing while the old graph is deleted
// :param formats => ['build']                        -- LIST OF STRING: what the mark may say made the graph
//
// returns: begun INTEGER
// mode: write
MERGE (g:__KgevalGraph__ {name: $name})
WITH g WHERE coalesce(g.format, 'build') IN $formats
SET g.format = 'build', g.status = $status, g.run = $run, g.started = datetime()
RETURN count(g) AS begun
