// gold-files: the files and documents that entities themselves name in a property, each once.
// Asked only where the graph has neither documents nor chunks (LightRAG keeps file paths on its entities).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param keys => ['file_path']    -- LIST OF STRING: properties of entities that list files or document ids
//
// returns: name STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
UNWIND $keys AS k
WITH e[k] AS value WHERE value IS NOT NULL
UNWIND CASE
  WHEN value IS :: LIST<ANY> THEN [x IN value | toStringOrNull(x)]
  WHEN $layout.source_separator IS NULL THEN [toStringOrNull(value)]
  ELSE split(toStringOrNull(value), $layout.source_separator) END AS name
WITH trim(name) AS name WHERE name <> ''
RETURN DISTINCT left(name, 500) AS name
