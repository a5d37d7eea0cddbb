// signature-outlier: relations that join types which their label hardly ever joins.
// For a label with enough relations, a pair of end types that is rare both in share and in number, where most relations
// of the label are of common pairs. Ends without a type are left out. Total: relations between two entities that have a type.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param min_relations => 20            -- INTEGER: relations that a label needs
// :param max_share => 0.05              -- FLOAT: a rare pair has at most this share of the label's relations
// :param max_uses => 3                  -- INTEGER: a rare pair has at most so many relations
// :param max_swapped => 0.02            -- FLOAT: or this share of them, where the usual two types stand the other way round
// :param max_rare_share => 0.2          -- FLOAT: with more of its relations in rare pairs, a label has no usual signature
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH @label(r) AS label,
  @type(a) AS from_type,
  @type(b) AS to_type,
  count(*) AS uses, collect(r)[0..1000] AS some
WITH label,
  collect(CASE WHEN from_type IS NOT NULL AND to_type IS NOT NULL
    THEN {from_type: from_type, to_type: to_type, uses: uses, some: some} END) AS pairs
WITH label, pairs, reduce(n = 0, p IN pairs | n + p.uses) AS typed
CALL (pairs) {
  UNWIND pairs AS p
  WITH p ORDER BY p.uses DESC, p.from_type, p.to_type LIMIT 1
  RETURN collect(p) AS usual
}
WITH label, typed, usual[0] AS usual,
  [p IN pairs | p {.*, swapped: p.from_type = usual[0].to_type AND p.to_type = usual[0].from_type AND p.from_type <> p.to_type}] AS pairs
WITH label, typed, pairs, usual, CASE WHEN typed >= $min_relations THEN [p IN pairs WHERE p.uses <= $max_share * typed AND (p.uses <= $max_uses
    OR (p.swapped AND p.uses <= $max_swapped * typed AND usual.uses >= 0.9 * typed))] ELSE [] END AS rare
WITH label, typed, pairs, usual, CASE WHEN reduce(n = 0, p IN rare | n + p.uses) <= $max_rare_share * typed
  THEN rare ELSE [] END AS rare
WITH sum(typed) AS total, sum(reduce(n = 0, p IN rare | n + p.uses)) AS count,
  collect([p IN rare | p {.*, label: label, typed: typed, usual_from: usual.from_type, usual_to: usual.to_type, usual_uses: usual.uses,
    reversed: any(o IN pairs WHERE o.from_type = p.to_type AND o.to_type = p.from_type
      AND o.uses > 0.2 * typed)}]) AS lists
WITH total, count, CASE WHEN count = 0 THEN [[null]] ELSE lists END AS lists
UNWIND lists AS list
UNWIND list AS hit
WITH total, count, hit, count(*) AS once
UNWIND CASE WHEN hit IS NULL THEN [null] ELSE hit.some END AS r
WITH total, count, hit, r, left(hit.label, 200) AS label, startNode(r) AS a, endNode(r) AS b
WITH total, count, hit, r, label, @display(a) AS from_name,
  @display(b) AS to_name
WITH total, count, hit, r, label,
  left(from_name, 200) + ' -[' + label + ']-> ' + left(to_name, 200) AS shown
ORDER BY toFloat(hit.uses) / hit.typed, shown, elementId(r) LIMIT $sample
RETURN count, total, collect(CASE WHEN r IS NOT NULL THEN {
  items: [{element_id: elementId(r), key: shown, name: shown, type: label, kind: 'relation'}],
  why: left(hit.from_type, 100) + ' -> ' + left(hit.to_type, 100) + ': ' + toString(hit.uses) + ' of ' + toString(hit.typed)
    + '; usual: ' + left(hit.usual_from, 100) + ' -> ' + left(hit.usual_to, 100) + ' (' + toString(hit.usual_uses) + ')'
    + CASE WHEN hit.swapped THEN '; it stands the wrong way round' WHEN hit.reversed THEN '; the other way round it is usual' ELSE '' END,
  repairable: hit.reversed
} END) AS sample
