// low-fill-property: properties that hardly any entity of a type has.
// An entity type and a property that at least one entity of it fills: a blank text or an empty list does not count as filled.
// Types with few entities and properties that are only ever true or false (marks) are left out.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param min_fill => 0.05               -- FLOAT: share of a type's entities that must have a property which one of them has
// :param min_entities => 20             -- INTEGER: types with fewer entities are left out
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
UNWIND CASE WHEN toStringOrNull(e.@type_key) IS NOT NULL THEN [toStringOrNull(e.@type_key)]
  ELSE [l IN labels(e) WHERE NOT l IN @type_label_ignored] END AS owner
WITH owner, collect(e) AS members
WHERE size(members) >= $min_entities
CALL (members) {
  UNWIND members AS e
  UNWIND keys(e) AS key
  WITH e, key, e[key] AS value
  WHERE NOT value IS :: BOOLEAN AND NOT coalesce(trim(toStringOrNull(value)) = '', false)
    AND NOT coalesce(CASE WHEN value IS :: LIST<ANY> THEN isEmpty(value) END, false)
  RETURN key, count(*) AS filled, head(collect(e)) AS first
}
WITH count(*) AS total, collect(CASE WHEN filled < $min_fill * size(members)
  THEN {owner: owner, key: key, filled: filled, of: size(members), first: first} END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit, hit.first AS e
WITH total, count, hit, e, @display(e) AS name
ORDER BY toFloat(hit.filled) / hit.of, hit.owner, hit.key LIMIT $sample
RETURN count, total, collect(CASE WHEN hit IS NOT NULL THEN {
  items: [{element_id: null, key: left(hit.owner, 100) + '.' + left(hit.key, 100),
   name: left(hit.owner, 100) + '.' + left(hit.key, 100), type: left(hit.owner, 200), kind: 'property'},
  {element_id: elementId(e), key: left(coalesce(@key(e), name), 200),
   name: left(name, 200), kind: 'entity',
   type: @type(e)}],
  why: toString(hit.filled) + ' of ' + toString(hit.of) + ' entities have it'
} END) AS sample
