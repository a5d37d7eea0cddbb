// same-at-both-ends: of how many nodes of a label, with just one relation of each of two types, both lead to one node; and of how many they
// would if the two knew nothing of each other.
//
// :param suspects => [{label: 'Match', first: 'AWAY_TEAM', first_out: true, last: 'HOME_TEAM', last_out: true}] -- LIST OF MAP: labels and two types each; whether from them
// :param sample => 5                                                                                          -- INTEGER: examples to return
//
// returns: owner STRING, first STRING, last STRING, nodes INTEGER, both INTEGER, same INTEGER, targets INTEGER, by_chance FLOAT, sample LIST OF MAP
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l)) AND EXISTS { (n)--() }
UNWIND [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IN labels(n)] AS at
WITH at, $suspects[at] AS s, n
WITH at, n,
  CASE WHEN s.first_out THEN COLLECT { MATCH (n)-[r]->(x) WHERE type(r) = s.first RETURN x LIMIT 2 }
    ELSE COLLECT { MATCH (n)<-[r]-(x) WHERE type(r) = s.first RETURN x LIMIT 2 } END AS firsts,
  CASE WHEN s.last_out THEN COLLECT { MATCH (n)-[r]->(x) WHERE type(r) = s.last RETURN x LIMIT 2 }
    ELSE COLLECT { MATCH (n)<-[r]-(x) WHERE type(r) = s.last RETURN x LIMIT 2 } END AS lasts
WITH at, n, CASE WHEN size(firsts) = 1 AND size(lasts) = 1 THEN firsts[0] END AS first,
  CASE WHEN size(firsts) = 1 AND size(lasts) = 1 THEN lasts[0] END AS last
WITH at, first, last, count(*) AS times, collect(CASE WHEN first = last THEN n END) AS hits
// each pair of ends once at either: a node where both lead to it has a row of hits of its own
UNWIND [0, 1] AS side
WITH at, CASE side WHEN 0 THEN first ELSE last END AS end, sum(CASE side WHEN 0 THEN times ELSE 0 END) AS first,
  sum(CASE side WHEN 1 THEN times ELSE 0 END) AS last, collect(CASE WHEN side = 0 AND NOT isEmpty(hits) THEN hits END) AS hits
WITH at, sum(first) AS nodes, sum(CASE WHEN end IS NOT NULL THEN first ELSE 0 END) AS both,
  sum(CASE WHEN end IS NOT NULL AND first > 0 THEN 1 ELSE 0 END) AS targets,
  sum(CASE WHEN end IS NOT NULL THEN toFloat(first) * last ELSE 0.0 END) AS products,
  sum(CASE WHEN isEmpty(hits) THEN 0 ELSE size(hits[0]) END) AS same, collect(CASE WHEN NOT isEmpty(hits) THEN {end: end, nodes: hits[0]} END) AS hits
WITH $suspects[at] AS s, nodes, both, same, targets, CASE WHEN both > 0 THEN products / both ELSE 0.0 END AS by_chance, hits
RETURN s.label AS owner, s.first AS first, s.last AS last, nodes, both, same, targets, by_chance, COLLECT {
  UNWIND hits[0..1000] AS hit
  UNWIND hit.nodes[0..1000] AS n
  WITH n, hit.end AS end, left(@display(n), 200) AS name
  ORDER BY name, elementId(n)
  LIMIT $sample
  RETURN {items: [{element_id: elementId(n), key: name, name: name, type: @type(n), kind: 'entity'}], why: left(@display(end), 60)}
} AS sample
ORDER BY owner, first, last
