// self-loop: relations from an entity to itself.
// A self-loop says nothing about other entities and corrupts clustering and walks.
//
// :param sample => 5                    -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH count(*) AS total, collect(CASE WHEN a = b THEN r END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS r
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, r, count(*) AS once
WITH total, count, r, @label(r) AS label, startNode(r) AS e
WITH total, count, r, label, e, @display(e) AS name
ORDER BY name, label, elementId(r) LIMIT $sample
WITH total, count, r, label, e, left(name, 200) + ' -[' + label + ']-> '
  + left(name, 200) AS shown
RETURN count, total, collect(CASE WHEN r IS NOT NULL THEN {
  items: [{element_id: elementId(r), key: shown, name: shown, type: label, kind: 'relation'}],
  why: null
} END) AS sample
