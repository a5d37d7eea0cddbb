// imported-graphs: the graphs that `kgeval import` wrote into this database.
// `status` is 'loading' while an import runs, and stays so where it was interrupted.
//
// returns: name STRING, status STRING, source STRING, format STRING, fingerprints LIST OF STRING, nodes INTEGER, started STRING
// mode: read
MATCH (g:__KgevalGraph__)
RETURN g.name AS name, g.status AS status, g.source AS source, g.format AS format, coalesce(g.fingerprints, []) AS fingerprints,
       g.nodes AS nodes, toString(g.started) AS started
ORDER BY name
