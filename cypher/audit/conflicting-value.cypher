// conflicting-value: entities with several objects for a relation that has one object nearly everywhere.
// A relation label is functional if it is declared so, or if it says what a thing has one of (born in), and has enough subjects of which
// nearly all have one object.
// Relations that have expired or ended do not count. Total: subjects of functional relation labels.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param min_subjects => 20             -- INTEGER: subjects that a relation label needs before it can be found functional
// :param min_single_share => 0.9        -- FLOAT: share of its subjects that must have one object
// :param one_object => ['born in']      -- LIST OF STRING: what a thing has one object of, in small letters
// :param functional => ''               -- STRING: relation labels declared functional, separated by commas
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (a:@Entity)
  CALL (a) {
    MATCH (a)-[r:@RELATION]->(b)
    WHERE @is(b, Endpoint)
      AND r.@valid_to_key IS NULL AND r.@expired_key IS NULL
    WITH @label(r) AS label, b
    RETURN label, count(DISTINCT b) AS objects
  }
  WITH label, count(*) AS subjects, sum(CASE WHEN objects = 1 THEN 1 ELSE 0 END) AS single
  WITH label, subjects, toFloat(single) / subjects AS share
  WHERE (subjects >= $min_subjects AND share >= $min_single_share
      AND replace(replace(replace(toLower(label), '_', ''), '-', ''), ' ', '') IN [w IN $one_object | replace(w, ' ', '')])
    OR toLower(label) IN [f IN split($functional, ',') | toLower(trim(f))]
  RETURN sum(subjects) AS total, collect({label: label, subjects: subjects, share: share}) AS functional, collect(label) AS names
}
CALL (functional, names) {
  MATCH (a:@Entity)
  WHERE size(names) > 0
  CALL (a, names) {
    MATCH (a)-[r:@RELATION]->(b)
    WHERE @is(b, Endpoint)
      AND r.@valid_to_key IS NULL AND r.@expired_key IS NULL
    WITH @label(r) AS label, b, r
    WHERE label IN names
    WITH label, b, head(collect(r)) AS r
    WITH label, count(*) AS objects, collect(r)[0..5] AS some
    WHERE objects > 1
    RETURN label, objects, some
  }
  RETURN collect({a: a, label: label, objects: objects, some: some, known: head([f IN functional WHERE f.label = label])}) AS hits
}
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
WITH total, count, hit, count(*) AS once
WITH total, count, hit, hit.a AS e, hit.known AS known
WITH total, count, hit, e, known, @display(e) AS name
ORDER BY known.share DESC, hit.objects DESC, name, hit.label, elementId(e) LIMIT $sample
WITH total, count, hit, e, known, name, left(hit.label, 200) AS label,
  [r IN hit.some | {r: r,
    to_name: @display(endNode(r))}] AS some
WITH total, count, hit, e, known, name, label, [x IN some | {r: x.r, to_name: left(x.to_name, 200),
  shown: left(name, 200) + ' -[' + label + ']-> ' + left(x.to_name, 200)}] AS some
RETURN count, total, collect(CASE WHEN hit IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name), 200),
   name: left(name, 200), kind: 'entity',
   type: @type(e)}]
    + [x IN some | {element_id: elementId(x.r), key: x.shown, name: x.shown, type: label, kind: 'relation'}],
  why: toString(hit.objects) + ' objects of ' + label + '; ' + toString(toInteger(round(100 * known.share))) + ' % of '
    + toString(known.subjects) + ' subjects have one'
} END) AS sample
