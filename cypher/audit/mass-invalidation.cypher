// mass-invalidation: many relations that were retired in the same second.
// Looks at the time at which the writer retired a fact; where the layout has none, at the end of validity if it carries a time of day.
//
// :param sample => 5              -- INTEGER: examples to return
// :param min_facts => 20          -- INTEGER: so many relations retired in one second are many
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE r[coalesce(@expired_key, @valid_to_key)] IS NOT NULL
  AND @is(r, RELATION)
WITH r, r[coalesce(@expired_key, @valid_to_key)] AS at
WITH r, at, CASE WHEN at IS :: INTEGER OR at IS :: FLOAT
  THEN toInteger(CASE WHEN at > 100000000000 THEN at / 1000 ELSE at END) END AS epoch
WITH r, epoch, coalesce(toString(epoch), left(toStringOrNull(at), 19)) AS second
WHERE @expired_key IS NOT NULL
   OR CASE WHEN epoch IS NULL THEN size(second) > 10 AND NOT second CONTAINS 'T00:00' ELSE epoch % 86400 <> 0 END
WITH second, count(*) AS facts, collect(r)[0..3] AS some
WITH sum(facts) AS total, sum(CASE WHEN facts >= $min_facts THEN facts ELSE 0 END) AS count,
     collect(CASE WHEN facts >= $min_facts THEN {second: second, facts: facts, some: some} END) AS groups
RETURN count, total, COLLECT {
  UNWIND groups AS g
  WITH g
  ORDER BY g.facts DESC, g.second
  LIMIT $sample
  CALL (g) {
    UNWIND g.some AS r
    WITH r, left(@label(r), 200) AS label
    WITH r, label, left(@display(startNode(r)), 200) + ' -[' + label + ']-> ' + left(@display(endNode(r)), 200) AS name
    ORDER BY name, elementId(r)
    RETURN collect({element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}) AS items
  }
  RETURN {items: items, why: g.facts + ' relations retired at ' + g.second, counts: g.facts}
} AS sample
