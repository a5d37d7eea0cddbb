// rename-relation: gives all relations of one name another one.
// The name is in the layout's property or, where there is none, the type: then relations are made anew and their element ids change.
// The name that goes is kept, in the list former_name. What a uniqueness constraint would refuse stays, and is counted.
//
// :param from => 'worked_for'            -- STRING: the name that goes
// :param to => 'works_for'               -- STRING: the name that they get
// :param unique => [{on: 'Ship', properties: ['id']}] -- LIST OF MAP: what constraints declare unique, as kgeval fills it in
//
// returns: renamed INTEGER, refused INTEGER
// mode: write
MATCH (a:@Entity)-[r:@RELATION]->(b)
WHERE @label(r) = $from AND $from <> $to
  AND @is(b, Entity)
WITH collect(DISTINCT r) AS chosen
CALL (chosen) {
  UNWIND [u IN $unique WHERE u.on = $to AND @relation_label_key IS NULL] AS u
  CALL (u, chosen) {
    UNWIND chosen AS r
    RETURN r, [k IN u.properties | r[k]] AS values
    UNION ALL
    MATCH ()-[o]->() WHERE type(o) = u.on AND $from <> $to
    RETURN null AS r, [k IN u.properties | o[k]] AS values
  }
  WITH u, values, collect(r) AS mine, count(*) AS bearers
  WHERE bearers > 1 AND none(v IN values WHERE v IS NULL)
  UNWIND mine AS r
  RETURN collect(DISTINCT r) AS refused
}
WITH refused, [r IN chosen WHERE NOT r IN refused | {r: r, source: startNode(r), target: endNode(r), said: properties(r),
  former: [x IN [] + coalesce(r.former_name, []) | toStringOrNull(x)] + $from}] AS renamed
// writes:
FOREACH (k IN [k IN [@relation_label_key] WHERE k IS NOT NULL] |
  FOREACH (one IN renamed | FOREACH (r IN [one.r] | SET r.former_name = one.former, r[k] = $to)))
FOREACH (one IN [one IN renamed WHERE @relation_label_key IS NULL] | FOREACH (r IN [one.r] | DELETE r))
WITH renamed, refused
CALL (renamed) {
  UNWIND [one IN renamed WHERE @relation_label_key IS NULL] AS one
  WITH one, one.source AS source, one.target AS target
  CREATE (source)-[n:$($to)]->(target)
  SET n = one.said, n.former_name = one.former
}
// counts:
RETURN size(renamed) AS renamed, size(refused) AS refused
