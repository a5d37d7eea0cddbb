// merge-entities: merges entities that are one thing: relations, links and sources go over to the one that is kept.
// Needs no APOC. What both have is kept once; relations among the merged ones and other properties of the copies are lost; another name
// becomes an alias, where the graph keeps aliases. Look at each group first, and repeat it for each.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param keep => '4:...:1'               -- STRING: the entity that stays
// :param copies => ['4:...:2']           -- LIST OF STRING: those that go
//
// returns: merged INTEGER
// mode: write
MATCH (keep), (copy)
WHERE elementId(keep) = $keep AND elementId(copy) IN $copies AND copy <> keep
  AND @is(keep, Entity)
  AND @is(copy, Entity)
CALL (keep, copy) {
  MATCH (copy)-[r]->(o)
  WHERE o <> copy AND o <> keep
    AND NOT EXISTS { MATCH (keep)-[s]->(o) WHERE type(s) = type(r) AND properties(s) = properties(r) }
  CREATE (keep)-[n:$(type(r))]->(o)
  SET n = properties(r)
}
CALL (keep, copy) {
  MATCH (o)-[r]->(copy)
  WHERE o <> copy AND o <> keep
    AND NOT EXISTS { MATCH (o)-[s]->(keep) WHERE type(s) = type(r) AND properties(s) = properties(r) }
  CREATE (o)-[n:$(type(r))]->(keep)
  SET n = properties(r)
}
FOREACH (k IN [k IN [$layout.entity_source_key] WHERE k IS NOT NULL AND copy[k] IS NOT NULL] |
  SET keep[k] = CASE
    WHEN keep[k] IS NULL THEN copy[k]
    WHEN keep[k] IS :: LIST<ANY> AND copy[k] IS :: LIST<ANY> THEN keep[k] + [x IN copy[k] WHERE NOT x IN keep[k]]
    WHEN keep[k] IS :: STRING AND copy[k] IS :: STRING AND $layout.source_separator IS NOT NULL
      THEN keep[k] + $layout.source_separator + copy[k]
    ELSE keep[k] END)
FOREACH (k IN [k IN $layout.alias_keys[0..1] WHERE @name(copy) <> @name(keep) AND (keep[k] IS NULL OR keep[k] IS :: LIST<ANY>)] |
  SET keep[k] = coalesce(keep[k], []) + [@name(copy)])
DETACH DELETE copy
RETURN count(*) AS merged
