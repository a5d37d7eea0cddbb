// prove-near: whether two entities are joined by one relation or by two, in either direction, for many pairs at once.
// Cheaper than prove-hops where that is all that must be known.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param rows => [{n: 0, start: '4:x:1', end: '4:x:2', below: 3}] -- LIST OF MAP: pairs of different entities; `below`: hops that are enough
//
// returns: n INTEGER, hops INTEGER
// mode: read
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.start
MATCH (b) WHERE elementId(b) = row.end AND a <> b
WITH row, a, b, EXISTS { MATCH (a)-[r]-(b) WHERE type(r) IN $layout.relation_types } AS joined
WITH row, CASE WHEN joined THEN 1 WHEN row.below > 2 AND EXISTS {
  MATCH (a)-[r]-(o)-[q]-(b)
  WHERE type(r) IN $layout.relation_types AND type(q) IN $layout.relation_types
    AND any(l IN labels(o) WHERE l IN $layout.entity_labels) AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(o))
    AND ($layout.scope_property IS NULL OR o[$layout.scope_property] = $layout.scope_value)
} THEN 2 END AS hops
WHERE hops IS NOT NULL
RETURN row.n AS n, hops
