// relation-without-source: relations that name no source.
// Without a source nobody can check the fact. Relations at an end that was never extracted (dangling) are left to dangling-relation.
// Counted first, and named only where a name can be among the first ones: it begins with the start's, and many graphs name no source at all.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (a)-[r]->(b)
  WHERE type(r) IN $layout.relation_types
    AND ($layout.relations_join_entities_only OR (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
      AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
      AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
      AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
  // as a column: with conditions on both ends the server goes from node to node, which takes twice as long as one pass over the relations
  WITH r, coalesce(a.dangling = true, false) OR coalesce(b.dangling = true, false) AS dangling
  WHERE NOT dangling
  RETURN count(*) AS total, sum(CASE WHEN size([s IN CASE
      WHEN r[$layout.relation_source_key] IS NULL THEN []
      WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
      WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
      ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values]) = 0 THEN 1 ELSE 0 END) AS count
}
CALL (count) {
  MATCH (a)
  WHERE count > 0 AND any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
    AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
    AND NOT coalesce(a.dangling = true, false)
    AND EXISTS {
      MATCH (a)-[r]->(b)
      WHERE type(r) IN $layout.relation_types
        AND ($layout.relations_join_entities_only OR (any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
          AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
          AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
        AND NOT coalesce(b.dangling = true, false)
        AND size([s IN CASE
          WHEN r[$layout.relation_source_key] IS NULL THEN []
          WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
          WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
          ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values]) = 0
    }
  WITH a, left(coalesce(@shown(a), '?'), 200) AS start
  ORDER BY start, elementId(a) LIMIT $sample
  MATCH (a)-[r]->(b)
  WHERE type(r) IN $layout.relation_types
    AND ($layout.relations_join_entities_only OR (any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
      AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
    AND NOT coalesce(b.dangling = true, false)
    AND size([s IN CASE
      WHEN r[$layout.relation_source_key] IS NULL THEN []
      WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
      WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
      ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values]) = 0
  WITH r, b, start, left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS label
  WITH r, label, start + ' -[' + label + ']-> ' + left(coalesce(@shown(b), '?'), 200) AS name
  ORDER BY name, elementId(r) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}], why: null}) AS sample
}
RETURN count, total, sample
