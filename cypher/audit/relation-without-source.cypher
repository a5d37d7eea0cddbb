// relation-without-source: relations that name no source.
// Without a source nobody can check the fact. Relations at an end that was never extracted (dangling) are left to dangling-relation.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $layout.relation_types
  AND ($layout.relations_join_entities_only OR (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
    AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
    AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
  AND NOT coalesce(a.dangling = true, false) AND NOT coalesce(b.dangling = true, false)
WITH r, size([s IN CASE
  WHEN r[$layout.relation_source_key] IS NULL THEN []
  WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
  ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values]) = 0 AS hit
WITH count(*) AS total, collect(CASE WHEN hit THEN r END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS r
WITH total, count, r, count(*) AS once
WITH total, count, r, startNode(r) AS a, endNode(r) AS b, coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)) AS label
WITH total, count, r, label, left(coalesce(@shown(a), '?'), 200) + ' -[' + left(label, 200) + ']-> '
     + left(coalesce(@shown(b), '?'), 200) AS name
ORDER BY name, elementId(r) LIMIT $sample
RETURN count, total, collect(CASE WHEN r IS NOT NULL THEN {
  items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}], why: null} END) AS sample
