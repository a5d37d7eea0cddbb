// type-inconsistency: the entity types with their number of entities, for the search of types that are spellings of each other.
// kgeval compares them in Python: equal but for case, spaces, punctuation and an English plural, or long and one letter apart.
// Other than in most checks, the rows are the candidates, not the finding.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
//
// returns: type STRING, entities INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
UNWIND CASE WHEN toStringOrNull(e[$layout.type_key]) IS NOT NULL THEN [toStringOrNull(e[$layout.type_key])]
  ELSE [l IN labels(e) WHERE NOT l IN $layout.type_label_ignored] END AS type
RETURN type, count(*) AS entities ORDER BY entities DESC, type
