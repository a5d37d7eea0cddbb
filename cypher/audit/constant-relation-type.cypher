// constant-relation-type: relations that all carry one label.
// With one label (RELATED, DIRECTED) for (nearly) all relations, what a relation says is only in its
// description. Graphs with few relations are left out.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param sample => 5                    -- INTEGER: examples to return
// :param min_relations => 20            -- INTEGER: graphs with fewer relations are left out
// :param min_share => 0.95              -- FLOAT: share of the relations that one label must have (above 0.5)
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $layout.relation_types
  AND ($layout.relations_join_entities_only OR (
    any(l IN labels(a) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
    AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(b) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
    AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
WITH coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)) AS label, count(*) AS uses
WITH sum(uses) AS total, collect({label: label, uses: uses}) AS found
WITH total, [x IN found WHERE total >= $min_relations AND x.uses >= $min_share * total] AS hits
RETURN reduce(n = 0, x IN hits | n + x.uses) AS count, total, [x IN hits[0..$sample] | {
  items: [{element_id: null, key: left(x.label, 200), name: left(x.label, 200), type: null, kind: 'type'}],
  why: toString(x.uses) + ' of ' + toString(total) + ' relations', counts: x.uses
}] AS sample
