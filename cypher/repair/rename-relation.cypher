// rename-relation: gives all relations of one name another one.
// The name is in the layout's property or, where there is none, the type: then relations are made anew and their element ids change.
// The name that goes is kept, in the list former_name.
//
// :param from => 'worked_for'            -- STRING: the name that goes
// :param to => 'works_for'               -- STRING: the name that they get
//
// returns: renamed INTEGER
// mode: write
MATCH (a:@Entity)-[r:@RELATION]->(b)
WHERE @label(r) = $from
  AND @is(b, Entity)
WITH DISTINCT a, r, b
FOREACH (k IN [k IN [@relation_label_key] WHERE k IS NOT NULL] |
  SET r.former_name = [] + coalesce(r.former_name, []) + $from, r[k] = $to)
WITH a, r, b
CALL (a, r, b) {
  WITH a, r, b WHERE @relation_label_key IS NULL
  CREATE (a)-[n:$($to)]->(b)
  SET n = properties(r), n.former_name = [] + coalesce(r.former_name, []) + $from
  DELETE r
}
RETURN count(*) AS renamed
