// dominant-type: a type that most entities have, in a graph of several types.
// Of a type that names nothing in particular (concept, object) fewer are enough. Entities whose type says that none is known are left out.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param vague => ['concept', 'object'] -- LIST OF STRING: types that name nothing in particular, in lower case
// :param untyped => ['unknown']         -- LIST OF STRING: types that say that none is known, in lower case
// :param min_entities => 50             -- INTEGER: graphs with fewer entities that have a type are left out
// :param min_types => 3                 -- INTEGER: graphs with fewer types are left out
// :param min_share => 0.6               -- FLOAT: share of the entities that a vague type must have (above 0.5)
// :param min_share_named => 0.85        -- FLOAT: share of the entities that any other type must have (above 0.5)
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WITH @type(e) AS type, count(*) AS uses
WHERE type IS NOT NULL AND trim(type) <> '' AND NOT toLower(trim(type)) IN $untyped
  AND NOT toLower(type) IN [v IN @placeholder_values | toLower(v)]
WITH sum(uses) AS total, count(*) AS types, collect({type: type, uses: uses}) AS found
WITH total, types, [x IN found WHERE total >= $min_entities AND types >= $min_types AND
  x.uses >= total * CASE WHEN toLower(trim(x.type)) IN $vague THEN $min_share ELSE $min_share_named END] AS hits
RETURN reduce(n = 0, x IN hits | n + x.uses) AS count, total, [x IN hits[0..$sample] | {
  items: [{element_id: null, key: left(x.type, 200), name: left(x.type, 200), type: null, kind: 'type'}],
  why: toString(x.uses) + ' of ' + toString(total) + ' entities, of ' + toString(types) + ' types', counts: x.uses
}] AS sample
