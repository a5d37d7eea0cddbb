// coverage-degrees: the named entities whose degree is in one of the given ranges, those with the most relations first.
// Degree: relations with other named entities, parallel ones each, self-loops not.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ranges => [[8, 15]]      -- LIST OF LIST OF INTEGER: lowest and highest degree of each bucket that no question covers
//
// returns: element_id STRING, name STRING, type STRING, degree INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  AND trim(coalesce(@shown(e), '')) <> ''
WITH e, COUNT {
  MATCH (e)-[r]-(o)
  WHERE type(r) IN $layout.relation_types AND o <> e
    AND trim(coalesce(@shown(o), '')) <> ''
    AND ($layout.relations_join_entities_only OR (
      any(l IN labels(o) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)))
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(o))
    AND ($layout.scope_property IS NULL OR o[$layout.scope_property] = $layout.scope_value)
} AS degree
WHERE any(range IN $ranges WHERE range[0] <= degree AND degree <= range[1])
RETURN elementId(e) AS element_id, left(@shown(e), 300) AS name,
       left(@type(e), 200) AS type, degree
ORDER BY degree DESC, name
