// open-path: how many relations of a type have no other way between their ends, of a kind that those of all others have: a scorer of a
// match in which his club does not play. A step of a way: types of relations, whether it goes along them, and the label that it leads to.
// Relations of which an end has no first, or no last step are left out. `starts`: only
// relations from these nodes (element ids) are looked at.
//
// :param paths => [{at: 0, type: 'SCORED_IN', start: 'Player', end: 'Match', steps: [{types: ['PLAYS_FOR'], along: true, label: 'Club'}, {types: ['HOME_TEAM', 'AWAY_TEAM'], along: false, label: 'Match'}]}] -- LIST OF MAP: relations, and the way of one to three steps from their start to their end
// :param sample => 5                                       -- INTEGER: examples to return
//
// returns: at INTEGER, all INTEGER, hits INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  WITH [p IN $paths WHERE p.starts IS NULL] AS paths
  WHERE NOT isEmpty(paths)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(p IN paths WHERE type(r) = p.type)
  UNWIND [p IN paths WHERE type(r) = p.type] AS p
  RETURN p, a, r, b
  UNION ALL
  UNWIND [p IN $paths WHERE p.starts IS NOT NULL] AS p
  UNWIND p.starts AS start
  MATCH (a:@Node) WHERE elementId(a) = start
  MATCH (a)-[r]->(b:@Node)
  WHERE type(r) = p.type
  RETURN p, a, r, b
}
WITH p, a, r, b
WHERE p.start IN labels(a) AND p.end IN labels(b) AND a <> b
WITH p, r, a, b, p.steps[0] AS first, p.steps[size(p.steps) - 1] AS last
WHERE EXISTS { MATCH (a)-[q]-(c) WHERE type(q) IN first.types AND first.label IN labels(c) AND first.along = (startNode(q) = a) }
  AND EXISTS { MATCH (c)-[q]-(b) WHERE type(q) IN last.types AND last.along = (endNode(q) = b)
    AND (size(p.steps) = 1 OR p.steps[size(p.steps) - 2].label IN labels(c)) }
WITH p, r, CASE size(p.steps)
  WHEN 1 THEN EXISTS { MATCH (a)-[q]-(b) WHERE type(q) IN first.types AND first.along = (startNode(q) = a) }
  WHEN 2 THEN EXISTS {
    MATCH (a)-[q]-(c)-[l]-(b)
    WHERE type(q) IN first.types AND first.label IN labels(c) AND first.along = (startNode(q) = a)
      AND type(l) IN last.types AND last.along = (endNode(l) = b)
  }
  ELSE EXISTS {
    MATCH (a)-[q]-(c)-[m]-(d)-[l]-(b)
    WHERE type(q) IN first.types AND first.label IN labels(c) AND first.along = (startNode(q) = a) AND c <> b AND d <> a
      AND type(m) IN p.steps[1].types AND p.steps[1].label IN labels(d) AND p.steps[1].along = (startNode(m) = c)
      AND type(l) IN last.types AND last.along = (endNode(l) = b)
  }
END AS is_closed
WITH p, count(*) AS all, sum(CASE WHEN is_closed THEN 0 ELSE 1 END) AS hits,
  collect(CASE WHEN NOT is_closed THEN r END)[0..10000] AS open
RETURN p.at AS at, all, hits, COLLECT {
  UNWIND open AS r
  WITH r, left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200) AS name
  ORDER BY name, elementId(r)
  LIMIT $sample
  RETURN {items: [{element_id: elementId(r), key: name, name: name, type: type(r), kind: 'relation'}]}
} AS sample
ORDER BY at
