// relation-synonym: how each relation name is used: how often, and between which types.
// The step after it compares the names that are used between the same types.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param max_names => 3000         -- INTEGER: relation names to compare, most used first
//
// returns: label STRING, uses INTEGER, total INTEGER, pairs LIST OF LIST
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $layout.relation_types
  AND ($layout.relations_join_entities_only OR (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
    AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
    AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
WITH coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)) AS label,
     @type(a) AS source,
     @type(b) AS target
WITH label, source, target, count(*) AS uses
ORDER BY uses DESC, source, target
WITH label, sum(uses) AS uses, collect([source, target, uses])[..100] AS pairs
ORDER BY uses DESC, label
WITH collect({label: label, uses: uses, pairs: pairs}) AS names
UNWIND names[..$max_names] AS n
RETURN left(n.label, 200) AS label, n.uses AS uses, size(names) AS total, n.pairs AS pairs
