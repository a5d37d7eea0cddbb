// similar-entity: every named entity (or those given), to be listed with the others that its embedding is near to.
// The step after it finds the neighbours: gds.knn over the stored embeddings, or a local index over those that --embed makes.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => null              -- LIST OF STRING: element ids; null = every named entity
//
// returns: element_id STRING, key STRING, name STRING, type STRING
// mode: read
MATCH (e)
WHERE ($ids IS NULL OR elementId(e) IN $ids) AND any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, @name(e) AS name
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, left(coalesce(toStringOrNull(e[$layout.key_property]), name), 200) AS key, left(name, 300) AS name,
       left(@type(e), 200) AS type
