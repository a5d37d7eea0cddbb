// missing-usual-value: how many nodes of a label, or relations of a type, have no value of a property (none, or a text of blanks), and which.
//
// :param suspects => [{label: 'Customer', key: 'email'}] -- LIST OF MAP: properties of labels, or of types ({type, key})
// :param sample => 5                                     -- INTEGER: examples to return; 0: only counted
//
// returns: at INTEGER, all INTEGER, hits INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  WITH n, labels(n) AS known
  UNWIND [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IN known] AS at
  RETURN at, n, null AS r, n[$suspects[at].key] AS value
  UNION ALL
  WITH [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IS NULL] AS places
  WHERE NOT isEmpty(places)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(i IN places WHERE $suspects[i].type = type(r))
  UNWIND [i IN places WHERE $suspects[i].type = type(r)] AS at
  RETURN at, null AS n, r, r[$suspects[at].key] AS value
}
WITH at, n, r, value IS NULL OR (value IS :: STRING AND trim(value) = '') AS is_missing
WITH at, count(*) AS all, sum(CASE WHEN is_missing THEN 1 ELSE 0 END) AS hits,
  collect(CASE WHEN is_missing AND $sample > 0 THEN {n: n, r: r} END)[0..1000] AS some
RETURN at, all, hits, COLLECT {
  UNWIND some AS hit
  WITH hit.n AS n, hit.r AS r
  WITH n, r, CASE
    WHEN r IS NULL THEN left(@display(n), 200)
    ELSE left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200)
  END AS name
  ORDER BY name, coalesce(elementId(n), elementId(r))
  LIMIT $sample
  RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
    kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}]}
} AS sample
ORDER BY at
