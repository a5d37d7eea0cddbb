// saturated-source-list: entities and relations whose source list is as long as the writer lets it grow.
// At the cap, later sources are dropped: provenance, counts and weights are no longer complete.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (e)
  WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
    AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
    AND $layout.entity_source_key IS NOT NULL
  WITH e, size(CASE
  WHEN e[$layout.entity_source_key] IS NULL THEN []
  WHEN e[$layout.entity_source_key] IS :: LIST<ANY> THEN [x IN e[$layout.entity_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(e[$layout.entity_source_key]))]
  ELSE [x IN split(toStringOrNull(e[$layout.entity_source_key]), $layout.source_separator) | trim(x)] END) AS n
  WHERE n > 0
  WITH count(*) AS total, collect(CASE WHEN n >= $layout.source_limit THEN e END) AS hits
  WITH total, size(hits) AS hit, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
  UNWIND hits AS e
  WITH total, hit, e, count(*) AS once
  WITH total, hit, e, @shown(e) AS name
  ORDER BY name, elementId(e) LIMIT $sample
  RETURN hit, total AS checked, collect(CASE WHEN e IS NOT NULL THEN {
    items: [{element_id: elementId(e), key: left(coalesce(coalesce(toStringOrNull(e[$layout.key_property]), name), ''), 200),
      name: left(coalesce(name, ''), 200), type: @type(e), kind: 'entity'}],
    why: 'at least ' + toString($layout.source_limit) + ' sources'} END) AS found
  UNION ALL
  MATCH (a)-[r]->(b)
  WHERE type(r) IN $layout.relation_types
    AND ($layout.relations_join_entities_only OR (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
      AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
      AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
      AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
    AND $layout.relation_source_key IS NOT NULL
  WITH r, size(CASE
  WHEN r[$layout.relation_source_key] IS NULL THEN []
  WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
  ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END) AS n
  WHERE n > 0
  WITH count(*) AS total, collect(CASE WHEN n >= $layout.source_limit THEN r END) AS hits
  WITH total, size(hits) AS hit, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
  UNWIND hits AS r
  WITH total, hit, r, count(*) AS once
  WITH total, hit, r, startNode(r) AS a, endNode(r) AS b, coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)) AS label
  WITH total, hit, r, label, left(coalesce(@shown(a), '?'), 200) + ' -[' + left(label, 200) + ']-> '
       + left(coalesce(@shown(b), '?'), 200) AS name
  ORDER BY name, elementId(r) LIMIT $sample
  RETURN hit, total AS checked, collect(CASE WHEN r IS NOT NULL THEN {
    items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}],
    why: 'at least ' + toString($layout.source_limit) + ' sources'} END) AS found
}
WITH sum(hit) AS count, sum(checked) AS total, collect(found) AS found
RETURN count, total, reduce(s = [], f IN found | s + f)[..$sample] AS sample
