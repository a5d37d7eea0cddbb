// layout-inner-types: how many relations of some types join two entities.
//
// :param types => ['KNOWS']          -- LIST OF STRING: the types to look at
//
// returns: type STRING, inner INTEGER, count INTEGER
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $types
RETURN type(r) AS type, count(*) AS count, count(CASE WHEN
      @has_label(a, Entity) AND @has_label(b, Entity)
      AND NOT @has_label(a, Excluded)
      AND NOT @has_label(b, Excluded)
      AND @is(a, Node) AND @is(b, Node)
    THEN 1 END) AS inner
