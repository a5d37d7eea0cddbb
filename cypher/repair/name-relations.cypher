// name-relations: gives relations a name that says what they mean.
// In the layout's property or, where there is none, as type: then relations are made anew and their element ids change.
// The name that they had is kept, in the list former_name. What a uniqueness constraint would refuse stays, and is counted.
//
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
// :param label => 'works_for'            -- STRING: the name that they get
// :param unique => [{on: 'Ship', properties: ['id']}] -- LIST OF MAP: what constraints declare unique, as kgeval fills it in
//
// returns: renamed INTEGER, refused INTEGER
// mode: write
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $element_ids AND @label(r) <> $label
  AND @is(r, RELATION) AND @is(a, Entity) AND @is(b, Entity)
WITH collect(DISTINCT r) AS chosen
CALL (chosen) {
  UNWIND [u IN $unique WHERE u.on = $label AND @relation_label_key IS NULL] AS u
  CALL (u, chosen) {
    UNWIND chosen AS r
    RETURN r, [k IN u.properties | r[k]] AS values
    UNION ALL
    MATCH ()-[o]->() WHERE type(o) = u.on AND NOT elementId(o) IN $element_ids
    RETURN null AS r, [k IN u.properties | o[k]] AS values
  }
  WITH u, values, collect(r) AS mine, count(*) AS bearers
  WHERE bearers > 1 AND none(v IN values WHERE v IS NULL)
  UNWIND mine AS r
  RETURN collect(DISTINCT r) AS refused
}
WITH refused, [r IN chosen WHERE NOT r IN refused | {r: r, source: startNode(r), target: endNode(r), said: properties(r),
  former: [x IN [] + coalesce(r.former_name, []) | toStringOrNull(x)] + @label(r)}] AS renamed
// writes:
FOREACH (k IN [k IN [@relation_label_key] WHERE k IS NOT NULL] |
  FOREACH (one IN renamed | FOREACH (r IN [one.r] | SET r.former_name = one.former, r[k] = $label)))
FOREACH (one IN [one IN renamed WHERE @relation_label_key IS NULL] | FOREACH (r IN [one.r] | DELETE r))
WITH renamed, refused
CALL (renamed) {
  UNWIND [one IN renamed WHERE @relation_label_key IS NULL] AS one
  WITH one, one.source AS source, one.target AS target
  CREATE (source)-[n:$($label)]->(target)
  SET n = one.said, n.former_name = one.former
}
// counts:
RETURN size(renamed) AS renamed, size(refused) AS refused
