// prove-step: where given entities come to by one hop along a predicate, for many questions at once.
// A predicate is the same in any spelling: case, spaces, hyphens and underscores are left out. `forward` null: in either direction.
//
// :param rows => [{n: 0, at: '4:x:1', predicate: 'worksfor', forward: true}] -- LIST OF MAP: one hop each
// :param most => 200              -- INTEGER: entities reached at most
//
// returns: n INTEGER, reached LIST OF LIST
// mode: read
UNWIND $rows AS row
MATCH (e) WHERE elementId(e) = row.at
CALL (row, e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE replace(replace(replace(toLower(left(@label(r), 200)), '_', ''), ' ', ''), '-', '') = row.predicate
    AND (CASE row.forward WHEN true THEN startNode(r) WHEN false THEN endNode(r) ELSE e END) = e
    AND @is(o, Entity)
  WITH DISTINCT o LIMIT $most
  RETURN collect([elementId(o), left(coalesce(@shown(o), ''), 300)]) AS reached
}
RETURN row.n AS n, reached
