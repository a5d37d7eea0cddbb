// extra-usual-relation: how many nodes of a label have just one relation of a type, and how many have relations to several nodes.
//
// :param suspects => [{label: 'Person', type: 'BORN_IN', outgoing: true}] -- LIST OF MAP: labels and types; whether from or to them
// :param sample => 5                                                      -- INTEGER: examples to return
//
// returns: owner STRING, type STRING, outgoing BOOLEAN, nodes INTEGER, one INTEGER, several INTEGER, sample LIST OF MAP
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l)) AND EXISTS { (n)--() }
UNWIND [s IN $suspects WHERE s.label IN labels(n)] AS s
WITH s, n, CASE WHEN s.outgoing THEN COLLECT { MATCH (n)-[r]->(x) WHERE type(r) = s.type RETURN DISTINCT x LIMIT 3 }
  ELSE COLLECT { MATCH (n)<-[r]-(x) WHERE type(r) = s.type RETURN DISTINCT x LIMIT 3 } END AS ends
WITH s, count(*) AS nodes, sum(CASE WHEN size(ends) = 1 THEN 1 ELSE 0 END) AS one,
  collect(CASE WHEN size(ends) > 1 THEN {n: n, ends: ends} END) AS hits
RETURN s.label AS owner, s.type AS type, s.outgoing AS outgoing, nodes, one, size(hits) AS several, COLLECT {
  UNWIND hits[0..1000] AS hit
  WITH hit.n AS n, left(@display(hit.n), 200) AS name, COLLECT {
    UNWIND hit.ends AS x
    WITH left(@display(x), 60) AS end
    RETURN end ORDER BY end
  } AS ends
  ORDER BY name, elementId(n)
  LIMIT $sample
  RETURN {items: [{element_id: elementId(n), key: name, name: name, type: @type(n), kind: 'entity'}],
    why: reduce(all = ends[0], end IN ends[1..] | all + ' and ' + end)}
} AS sample
ORDER BY owner, type
