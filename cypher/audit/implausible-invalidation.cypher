// implausible-invalidation: retired relations whose successor has nothing to do with them.
// A fact that contradicts an older one ends the older one's validity at its own start. So the successor is a relation that starts
// at the very instant at which the retired one ends. It is plausible if it joins the same two entities, or shares one end and the
// relation's name. A hit has a successor, and none is plausible.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE r.@valid_to_key IS NOT NULL AND (@expired_key IS NULL OR r.@expired_key IS NOT NULL)
    AND @is(r, RELATION)
  RETURN r, toStringOrNull(r.@valid_to_key) AS at, true AS old
  UNION ALL
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE r.@valid_from_key IS NOT NULL
    AND @is(r, RELATION)
  RETURN r, toStringOrNull(r.@valid_from_key) AS at, false AS old
}
WITH at, collect(CASE WHEN old THEN r END) AS olds, collect(CASE WHEN NOT old THEN r END) AS news
WHERE size(olds) > 0
CALL (at, olds, news) {
  WITH olds, news WHERE size(news) > 0
  UNWIND [x IN olds | [x, true]] + [x IN news | [x, false]] AS row
  WITH row[0] AS r, row[1] AS old
  WITH r, old, startNode(r) AS s, endNode(r) AS t, @label(r) AS label
  UNWIND [CASE WHEN elementId(s) < elementId(t) THEN [s, t] ELSE [t, s] END, [label, s]] + CASE WHEN s = t THEN [] ELSE [[label, t]] END AS key
  WITH key, collect(CASE WHEN old THEN r END) AS members, count(CASE WHEN NOT old THEN 1 END) AS starting
  WHERE size(members) > 0
  UNWIND members AS r
  WITH r, starting, CASE WHEN toStringOrNull(r.@valid_from_key) = at THEN 1 ELSE 0 END AS itself
  WITH r, max(starting - itself) AS plausible, max(itself) AS itself
  RETURN collect(CASE WHEN plausible = 0 AND size(news) > itself THEN {r: r, n: head([n IN news[0..2] WHERE n <> r])} END) AS unrelated
}
WITH coalesce(sum(size(olds)), 0) AS total, collect(unrelated) AS groups
WITH total, reduce(n = 0, g IN groups | n + size(g)) AS count, groups
RETURN count, total, COLLECT {
  UNWIND groups AS g
  UNWIND g AS hit
  WITH hit.r AS r, hit.n AS n
  ORDER BY toStringOrNull(r.@valid_to_key), elementId(r)
  LIMIT $sample
  WITH r, n, left(@label(r), 200) AS label, left(@label(n), 200) AS new_label
  WITH r, n, label, new_label, left(@display(startNode(r)), 200) + ' -[' + label + ']-> ' + left(@display(endNode(r)), 200) AS name,
       left(@display(startNode(n)), 200) + ' -[' + new_label + ']-> ' + left(@display(endNode(n)), 200) AS new_name
  RETURN {items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'},
                  {element_id: elementId(n), key: new_name, name: new_name, type: new_label, kind: 'relation'}],
          why: 'the first ended at ' + left(toStringOrNull(r.@valid_to_key), 40) + ', when only unrelated facts such as the second began'}
} AS sample
