// saturated-source-list: entities and relations whose source list is as long as the writer lets it grow.
// At the cap, later sources are dropped: provenance, counts and weights are no longer complete.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (e:@Entity)
  WHERE @entity_source_key IS NOT NULL
  WITH e, size(@sources(e, Entity)) AS n
  WHERE n > 0
  WITH count(*) AS total, collect(CASE WHEN n >= @source_limit THEN e END) AS hits
  WITH total, size(hits) AS hit, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
  UNWIND hits AS e
  WITH total, hit, e, count(*) AS once
  WITH total, hit, e, @display(e) AS name
  ORDER BY name, elementId(e) LIMIT $sample
  RETURN hit, total AS checked, collect(CASE WHEN e IS NOT NULL THEN {
    items: [{element_id: elementId(e), key: left(coalesce(@key(e), name), 200),
      name: left(name, 200), type: @type(e), kind: 'entity'}],
    why: 'at least ' + toString(@source_limit) + ' sources'} END) AS found
  UNION ALL
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE @is(r, RELATION)
    AND @relation_source_key IS NOT NULL
  WITH r, size(@sources(r, Relation)) AS n
  WHERE n > 0
  WITH count(*) AS total, collect(CASE WHEN n >= @source_limit THEN r END) AS hits
  WITH total, size(hits) AS hit, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
  UNWIND hits AS r
  WITH total, hit, r, count(*) AS once
  WITH total, hit, r, startNode(r) AS a, endNode(r) AS b, @label(r) AS label
  WITH total, hit, r, label, left(@display(a), 200) + ' -[' + left(label, 200) + ']-> '
       + left(@display(b), 200) AS name
  ORDER BY name, elementId(r) LIMIT $sample
  RETURN hit, total AS checked, collect(CASE WHEN r IS NOT NULL THEN {
    items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}],
    why: 'at least ' + toString(@source_limit) + ' sources'} END) AS found
}
WITH sum(hit) AS count, sum(checked) AS total, collect(found) AS found
RETURN count, total, reduce(s = [], f IN found | s + f)[..$sample] AS sample
