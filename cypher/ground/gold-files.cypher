// gold-files: the files and documents that entities themselves name in a property, each once.
// Asked only where the graph has neither documents nor chunks (LightRAG keeps file paths on its entities).
//
// :param keys => ['file_path']    -- LIST OF STRING: properties of entities that list files or document ids
//
// returns: name STRING
// mode: read
MATCH (e:@Entity)
UNWIND $keys AS k
WITH e[k] AS value WHERE value IS NOT NULL
UNWIND CASE
  WHEN value IS :: LIST<ANY> THEN [x IN value | toStringOrNull(x)]
  WHEN @source_separator IS NULL THEN [toStringOrNull(value)]
  ELSE split(toStringOrNull(value), @source_separator) END AS name
WITH trim(name) AS name WHERE name <> ''
RETURN DISTINCT left(name, 500) AS name
