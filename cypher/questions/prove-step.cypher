// prove-step: where given entities come to by one hop along a predicate, for many questions at once.
// A predicate is the same in any spelling: case, spaces, hyphens and underscores are left out. `forward` null: in either direction.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param rows => [{n: 0, at: '4:x:1', predicate: 'worksfor', forward: true}] -- LIST OF MAP: one hop each
// :param most => 200              -- INTEGER: entities reached at most
//
// returns: n INTEGER, reached LIST OF LIST
// mode: read
UNWIND $rows AS row
MATCH (e) WHERE elementId(e) = row.at
CALL (row, e) {
  MATCH (e)-[r]-(o)
  WHERE type(r) IN $layout.relation_types
    AND replace(replace(replace(toLower(left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200)), '_', ''), ' ', ''), '-', '') = row.predicate
    AND (CASE row.forward WHEN true THEN startNode(r) WHEN false THEN endNode(r) ELSE e END) = e
    AND any(l IN labels(o) WHERE l IN $layout.entity_labels) AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(o))
    AND ($layout.scope_property IS NULL OR o[$layout.scope_property] = $layout.scope_value)
  WITH DISTINCT o LIMIT $most
  RETURN collect([elementId(o), left(coalesce(@shown(o), ''), 300)]) AS reached
}
RETURN row.n AS n, reached
