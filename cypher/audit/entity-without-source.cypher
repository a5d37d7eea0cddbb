// entity-without-source: entities that no chunk mentions and that name no source.
// Without a source nobody can check the entity. Ends of relations that were never extracted (dangling) are left to dangling-relation.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  AND NOT coalesce(e.dangling = true, false)
WITH e, NOT EXISTS {
  MATCH (e)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
} AND NOT ($layout.entity_source_key IS NOT NULL AND size([s IN CASE
  WHEN e[$layout.entity_source_key] IS NULL THEN []
  WHEN e[$layout.entity_source_key] IS :: LIST<ANY> THEN [x IN e[$layout.entity_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(e[$layout.entity_source_key]))]
  ELSE [x IN split(toStringOrNull(e[$layout.entity_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values]) > 0) AS hit
WITH count(*) AS total, collect(CASE WHEN hit THEN e END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS e
WITH total, count, e, count(*) AS once
WITH total, count, e, @shown(e) AS name,
     COUNT { (e)-[r]-() WHERE type(r) IN $layout.relation_types } AS degree
ORDER BY degree DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(coalesce(toStringOrNull(e[$layout.key_property]), name), ''), 200),
    name: left(coalesce(name, ''), 200), type: @type(e), kind: 'entity'}],
  why: toString(degree) + ' relations'} END) AS sample
