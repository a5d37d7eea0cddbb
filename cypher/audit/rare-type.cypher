// rare-type: entity types that hardly any entity has.
// Types of an open extraction that were used once are mostly wordings of another type. Placeholders (LightRAG's UNKNOWN) are no types.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param max_uses => 1                  -- INTEGER: a type with so many entities or fewer is rare
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
UNWIND CASE WHEN toStringOrNull(e.@type_key) IS NOT NULL THEN [toStringOrNull(e.@type_key)]
  ELSE [l IN labels(e) WHERE NOT l IN @type_label_ignored] END AS type
WITH e, type WHERE NOT toLower(type) IN [v IN @placeholder_values | toLower(v)]
WITH type, count(*) AS uses, head(collect(e)) AS first
WITH count(*) AS total, collect(CASE WHEN uses <= $max_uses THEN {type: type, uses: uses, first: first} END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit, hit.first AS e
WITH total, count, hit, e, @display(e) AS name
ORDER BY hit.uses, hit.type LIMIT $sample
RETURN count, total, collect(CASE WHEN hit IS NOT NULL THEN {
  items: [{element_id: null, key: left(hit.type, 200), name: left(hit.type, 200), type: null, kind: 'type'},
  {element_id: elementId(e), key: left(coalesce(@key(e), name), 200),
   name: left(name, 200), kind: 'entity',
   type: @type(e)}],
  why: toString(hit.uses) + CASE hit.uses WHEN 1 THEN ' entity' ELSE ' entities' END
} END) AS sample
