// name-not-in-source: every entity with its names and the chunks that it is said to come from.
// The step after it reads each chunk once (probe/chunk-sources.cypher) and lists the entities whose names stand in none of theirs.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: element_id STRING, key STRING, name STRING, type STRING, aliases LIST OF STRING, chunks LIST OF STRING, ids LIST OF STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  AND ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, @name(e) AS name
WHERE name IS NOT NULL
CALL (e) {
  MATCH (e)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  RETURN collect(DISTINCT elementId(c)) AS chunks
}
RETURN elementId(e) AS element_id, left(coalesce(toStringOrNull(e[$layout.key_property]), name), 200) AS key, left(name, 1000) AS name,
       @type(e) AS type,
       reduce(all = [], k IN $layout.alias_keys | all + CASE
         WHEN e[k] IS NULL THEN []
         WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] WHERE toStringOrNull(x) IS NOT NULL | toStringOrNull(x)]
         ELSE [x IN [toStringOrNull(e[k])] WHERE x IS NOT NULL] END) AS aliases,
       chunks, CASE
  WHEN e[$layout.entity_source_key] IS NULL THEN []
  WHEN e[$layout.entity_source_key] IS :: LIST<ANY> THEN [x IN e[$layout.entity_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(e[$layout.entity_source_key]))]
  ELSE [x IN split(toStringOrNull(e[$layout.entity_source_key]), $layout.source_separator) | trim(x)] END AS ids
