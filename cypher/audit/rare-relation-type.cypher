// rare-relation-type: relation labels that hardly any relation has.
// Labels of an open extraction that were used once are mostly wordings of another label.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param max_uses => 1                  -- INTEGER: a label with so many relations or fewer is rare
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH @label(r) AS label, count(*) AS uses, head(collect(r)) AS first
WITH count(*) AS total, collect(CASE WHEN uses <= $max_uses THEN {label: label, uses: uses, first: first} END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit ORDER BY hit.uses, hit.label LIMIT $sample
WITH total, count, hit, left(hit.label, 200) AS label, hit.first AS r, startNode(hit.first) AS a, endNode(hit.first) AS b
WITH total, count, hit, label, r, @display(a) AS from_name,
  @display(b) AS to_name
WITH total, count, hit, label, r,
  left(from_name, 200) + ' -[' + label + ']-> ' + left(to_name, 200) AS shown
RETURN count, total, collect(CASE WHEN hit IS NOT NULL THEN {
  items: [{element_id: null, key: label, name: label, type: null, kind: 'type'},
    {element_id: elementId(r), key: shown, name: shown, type: label, kind: 'relation'}],
  why: toString(hit.uses) + CASE hit.uses WHEN 1 THEN ' relation' ELSE ' relations' END
} END) AS sample
