// missing-usual-relation: of how many nodes of a label each has just one relation of a type, and how many have none, though they have
// others. What others lead to, and leads to none itself, is the top of a hierarchy, and left out.
//
// :param suspects => [{label: 'Encounter', type: 'OF_PATIENT', outgoing: true}] -- LIST OF MAP: labels and types; whether from or to them
// :param sample => 5                                                           -- INTEGER: examples to return
//
// returns: owner STRING, type STRING, outgoing BOOLEAN, nodes INTEGER, one INTEGER, least INTEGER, none INTEGER, sample LIST OF MAP
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l)) AND EXISTS { (n)--() }
UNWIND [s IN $suspects WHERE s.label IN labels(n)] AS s
WITH s, n, CASE WHEN s.outgoing THEN COUNT { (n)-[r]->() WHERE type(r) = s.type } ELSE COUNT { (n)<-[r]-() WHERE type(r) = s.type } END AS times
WHERE times > 0 OR CASE WHEN s.outgoing THEN NOT EXISTS { (n)<-[r]-() WHERE type(r) = s.type } ELSE NOT EXISTS { (n)-[r]->() WHERE type(r) = s.type } END
WITH s, count(*) AS nodes, min(CASE WHEN times > 0 THEN times END) AS least,
  sum(CASE WHEN times = 1 THEN 1 ELSE 0 END) AS one,
  collect(CASE WHEN times = 0 THEN n END) AS hits
RETURN s.label AS owner, s.type AS type, s.outgoing AS outgoing, nodes, one, coalesce(least, 0) AS least, size(hits) AS none, COLLECT {
  UNWIND hits[0..1000] AS n
  WITH n, left(@display(n), 200) AS name
  ORDER BY name, elementId(n)
  LIMIT $sample
  RETURN {items: [{element_id: elementId(n), key: name, name: name, type: @type(n), kind: 'entity'}], why: null}
} AS sample
ORDER BY owner, type
