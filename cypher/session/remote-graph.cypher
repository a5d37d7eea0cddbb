// remote-graph: sends the simple entity graph to a session: one edge a pair, no self-loops, isolated entities kept.
// The session's client runs it in the database; which types are undirected is told to the client, not here.
// The parameters are flat, and their names have no underscore: the client rewrites the keys of maps and drops those without a value.
//
// :param entities => ['__Entity__'] -- LIST OF STRING: entity labels
// :param excluded => []             -- LIST OF STRING: labels that no entity has
// :param scopes => []               -- LIST OF STRING: labels that every entity of the graph has
// :param owner => []                -- LIST OF STRING: the property that says which graph an entity belongs to, if there is one
// :param value => []                -- LIST OF STRING: its value
// :param types => ['RELATED']       -- LIST OF STRING: relation types
// :param inner => true              -- BOOLEAN: these types join entities only, so that the other end need not be looked at
//
// returns: g MAP
// needs: gds.graph.project.remote
// mode: read
MATCH (s)
WHERE any(l IN labels(s) WHERE l IN $entities)
    AND none(l IN labels(s) WHERE l IN $excluded)
    AND all(l IN $scopes WHERE l IN labels(s))
    AND all(p IN $owner WHERE s[p] = $value[0])
OPTIONAL MATCH (s)-[r]->(t)
WHERE type(r) IN $types AND s <> t
  AND ($inner OR (
    any(l IN labels(t) WHERE l IN $entities)
    AND none(l IN labels(t) WHERE l IN $excluded)
    AND all(l IN $scopes WHERE l IN labels(t))
    AND all(p IN $owner WHERE t[p] = $value[0])))
WITH DISTINCT CASE WHEN t IS NULL OR elementId(s) < elementId(t) THEN s ELSE t END AS a,
     CASE WHEN t IS NULL OR elementId(s) < elementId(t) THEN t ELSE s END AS b
RETURN gds.graph.project.remote(a, b, {relationshipType: 'SIMPLE'}) AS g
