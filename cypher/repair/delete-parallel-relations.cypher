// delete-parallel-relations: keeps one of all relations that are the same in everything: both ends, type and every property.
// Relations whose properties differ stay: their descriptions, weights, sources or times are facts of their own. 1 and 1.0 differ, too.
// Only for graphs that a writer extracted from texts: elsewhere a relation that stands twice may be a second event.
//
// returns: deleted INTEGER
// mode: write
MATCH (a:@Entity)-[r:@RELATION]->(b)
WHERE a <> b
  AND @is(b, Entity)
WITH a, b, type(r) AS name, properties(r) AS said, r
ORDER BY elementId(r)
WITH a, b, name, said, collect(r) AS alike
WHERE size(alike) > 1
UNWIND alike AS r
CALL (r) {
  UNWIND keys(r) AS k
  WITH k, valueType(r[k]) AS kind ORDER BY k
  RETURN collect(kind) AS kinds
}
WITH a, b, name, said, kinds, collect(r) AS same
UNWIND tail(same) AS r
// writes:
DELETE r
// counts:
RETURN count(*) AS deleted
