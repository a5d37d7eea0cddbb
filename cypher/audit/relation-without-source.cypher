// relation-without-source: relations that name no source.
// Without a source nobody can check the fact. Relations at an end that was never extracted (dangling) are left to dangling-relation.
// Counted first, and named only where a name can be among the first ones: it begins with the start's, and many graphs name no source at all.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE @is(r, RELATION)
  // as a column: with conditions on both ends the server goes from node to node, which takes twice as long as one pass over the relations
  WITH r, coalesce(a.dangling = true, false) OR coalesce(b.dangling = true, false) AS dangling
  WHERE NOT dangling
  RETURN count(*) AS total, sum(CASE WHEN size(@named_sources(r, Relation)) = 0 THEN 1 ELSE 0 END) AS count
}
CALL (count) {
  MATCH (a:@Entity)
  WHERE count > 0 AND NOT coalesce(a.dangling = true, false)
    AND EXISTS {
      MATCH (a)-[r:@RELATION]->(b)
      WHERE @is(b, Endpoint)
        AND NOT coalesce(b.dangling = true, false)
        AND size(@named_sources(r, Relation)) = 0
    }
  WITH a, left(@display(a), 200) AS start
  ORDER BY start, elementId(a) LIMIT $sample
  MATCH (a)-[r:@RELATION]->(b)
  WHERE @is(b, Endpoint)
    AND NOT coalesce(b.dangling = true, false)
    AND size(@named_sources(r, Relation)) = 0
  WITH r, b, start, left(@label(r), 200) AS label
  WITH r, label, start + ' -[' + label + ']-> ' + left(@display(b), 200) AS name
  ORDER BY name, elementId(r) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}], why: null}) AS sample
}
RETURN count, total, sample
