// layout-graph-names: the graphs that kgeval itself has written into this database.
//
// returns: name STRING
// mode: read
MATCH (g)
WHERE '__KgevalGraph__' IN labels(g)
RETURN toStringOrNull(g.name) AS name
ORDER BY name
