// merge-entities: merges entities that are one thing: relations, links, sources and properties go over to the one that is kept.
// Only for graphs that a writer extracted from texts: elsewhere two things may bear one name. Needs no APOC. Nothing is lost: where a
// property differs, a copy's value goes into the list former_KEY (its labels into former_labels), another name also becomes an alias,
// where the graph keeps aliases; what both have in everything is kept once; a relation between two of them becomes one of the kept one
// to itself. Look at each group first, and repeat it for each.
//
// :param keep => '4:...:1'               -- STRING: the entity that stays
// :param copies => ['4:...:2']           -- LIST OF STRING: those that go
//
// returns: merged INTEGER
// mode: write
MATCH (keep:@Entity)
WHERE elementId(keep) = $keep
MATCH (copy:@Entity)
WHERE elementId(copy) IN $copies AND copy <> keep
WITH keep, collect(DISTINCT copy) AS copies, collect(DISTINCT {name: @name(copy), said: properties(copy), labels: labels(copy)}) AS all
CALL (keep, copies) {
  UNWIND copies AS copy
  MATCH (copy)-[r]-()
  WITH DISTINCT keep, copies, r
  WITH DISTINCT CASE WHEN startNode(r) IN copies THEN keep ELSE startNode(r) END AS source,
    CASE WHEN endNode(r) IN copies THEN keep ELSE endNode(r) END AS target, type(r) AS name, properties(r) AS said
  WHERE NOT EXISTS { MATCH (source)-[s]->(target) WHERE type(s) = name AND properties(s) = said }
  CREATE (source)-[n:$(name)]->(target)
  SET n = said
}
FOREACH (copy IN copies | DETACH DELETE copy)
WITH keep, all, size(copies) AS merged
UNWIND all AS gone
FOREACH (k IN [k IN keys(gone.said) WHERE keep[k] IS NULL] | SET keep[k] = gone.said[k])
FOREACH (k IN [k IN [@entity_source_key] + @alias_keys WHERE keep[k] IS :: LIST<ANY> NOT NULL AND gone.said[k] IS :: LIST<ANY> NOT NULL] |
  SET keep[k] = keep[k] + [x IN gone.said[k] WHERE NOT x IN keep[k]])
FOREACH (k IN [k IN [@entity_source_key] WHERE keep[k] IS :: STRING NOT NULL AND gone.said[k] IS :: STRING NOT NULL
    AND size(@source_separator) > 0] |
  SET keep[k] = keep[k] + reduce(more = '', x IN [x IN split(gone.said[k], @source_separator)
    WHERE NOT x IN split(keep[k], @source_separator)] | more + @source_separator + x))
FOREACH (k IN [k IN keys(gone.said) WHERE keep[k] <> gone.said[k] AND NOT k STARTS WITH 'former_'
    AND NOT coalesce(k IN [@entity_source_key] + @alias_keys AND (
      keep[k] IS :: LIST<ANY> AND gone.said[k] IS :: LIST<ANY>
      OR keep[k] IS :: STRING AND gone.said[k] IS :: STRING AND k = @entity_source_key AND size(@source_separator) > 0), false)] |
  SET keep['former_' + k] = [] + coalesce(keep['former_' + k], []) + gone.said[k])
FOREACH (k IN [k IN keys(gone.said) WHERE k STARTS WITH 'former_' AND keep[k] <> gone.said[k]] | SET keep[k] = [] + keep[k] + gone.said[k])
FOREACH (l IN [l IN gone.labels WHERE NOT l IN labels(keep)] | SET keep.former_labels = [] + coalesce(keep.former_labels, []) + l)
FOREACH (k IN [k IN @alias_keys[0..1] WHERE gone.name <> @name(keep) AND (keep[k] IS NULL OR keep[k] IS :: LIST<ANY>)
    AND NOT gone.name IN coalesce(keep[k], [])] |
  SET keep[k] = coalesce(keep[k], []) + [gone.name])
RETURN coalesce(max(merged), 0) AS merged
