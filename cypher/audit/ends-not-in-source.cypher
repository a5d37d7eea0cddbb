// ends-not-in-source: every relation with its ends and the source ids that it carries.
// The step after it reads each chunk once (probe/chunk-sources.cypher) and lists the relations neither end of which stands in their chunks.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: element_id STRING, source STRING, target STRING, label STRING, ids LIST OF STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE type(r) IN $layout.relation_types
  AND ($sample_share >= 1 OR ((toInteger(last(split(elementId(r), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
  AND ($layout.relations_join_entities_only OR (any(l IN labels(a) WHERE l IN $layout.entity_labels) AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
    AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(b) WHERE l IN $layout.entity_labels) AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
    AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
RETURN elementId(r) AS element_id, elementId(a) AS source, elementId(b) AS target, left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS label,
       CASE
  WHEN r[$layout.relation_source_key] IS NULL THEN []
  WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
  ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END AS ids
