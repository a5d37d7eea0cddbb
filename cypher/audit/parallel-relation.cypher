// parallel-relation: relations that repeat another one: same start, same end, same label, same validity, and the same values of what tells
// two relations of this type apart.
// Counted are the relations beyond the first of each such set. Self-loops are left out (self-loop counts them).
// Counted entity by entity, so that no more than one entity's relations are held at a time.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param telling => {}                  -- MAP: by relation type, properties that tell two of one pair apart: {SCORED: ['minute']}
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Entity)
CALL (a) {
  MATCH (a)-[r:@RELATION]->(b)
  WHERE @is(b, Endpoint)
  WITH b, @label(r) AS label,
    [r.@valid_from_key, r.@valid_to_key, r.@expired_key] + [k IN coalesce($telling[type(r)], []) | r[k]] AS validity, r
  WITH b, label, validity, count(*) AS times, collect(r)[0..3] AS some
  RETURN sum(times) AS total, sum(CASE WHEN a <> b THEN times - 1 ELSE 0 END) AS count,
    collect(CASE WHEN times > 1 AND a <> b THEN {b: b, label: label, times: times, some: some} END) AS hits
}
WITH sum(total) AS total, sum(count) AS count, collect(CASE WHEN size(hits) > 0 THEN {a: a, hits: hits} END) AS lists
WITH total, count, CASE WHEN isEmpty(lists) THEN [{hits: [null]}] ELSE lists END AS lists
UNWIND lists AS list
UNWIND list.hits AS hit
WITH total, count, list.a AS a, hit, count(*) AS once
WITH total, count, hit, a, hit.b AS b, left(hit.label, 200) AS label
WITH total, count, hit, label, @display(a) AS from_name,
  @display(b) AS to_name
WITH total, count, hit, label,
  left(from_name, 200) + ' -[' + label + ']-> ' + left(to_name, 200) AS shown
ORDER BY hit.times DESC, shown LIMIT $sample
RETURN count, total, collect(CASE WHEN hit IS NOT NULL THEN {
  items: [r IN hit.some | {element_id: elementId(r), key: shown, name: shown, type: label, kind: 'relation'}],
  why: toString(hit.times) + ' times', counts: hit.times - 1
} END) AS sample
