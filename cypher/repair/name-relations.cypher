// name-relations: gives relations a name that says what they mean.
// In the layout's property or, where there is none, as type: then relations are made anew and their element ids change.
// The name that they had is kept, in the list former_name.
//
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
// :param label => 'works_for'            -- STRING: the name that they get
//
// returns: renamed INTEGER
// mode: write
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $element_ids
  AND @is(r, RELATION) AND @is(a, Entity) AND @is(b, Entity)
WITH DISTINCT a, r, b
FOREACH (k IN [k IN [@relation_label_key] WHERE k IS NOT NULL] |
  SET r.former_name = [] + coalesce(r.former_name, []) + @label(r), r[k] = $label)
WITH a, r, b
CALL (a, r, b) {
  WITH a, r, b WHERE @relation_label_key IS NULL
  CREATE (a)-[n:$($label)]->(b)
  SET n = properties(r), n.former_name = [] + coalesce(r.former_name, []) + @label(r)
  DELETE r
}
RETURN count(*) AS renamed
