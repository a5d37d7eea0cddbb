// type-conflict: every named entity with a type, to be grouped by normalised name.
// The step after it folds case, punctuation and width and lists the names that entities of different types share.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, key STRING, name STRING, type STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, @name(e) AS name, @type(e) AS type
WHERE name IS NOT NULL AND type IS NOT NULL
RETURN elementId(e) AS element_id, coalesce(toStringOrNull(e[$layout.key_property]), name) AS key, name, type
