// restore-relations: takes back the retirement of relations: they hold again.
// The times are kept, in the lists former_KEY.
//
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
//
// returns: restored INTEGER
// mode: write
MATCH ()-[r]->()
WHERE elementId(r) IN $element_ids
  AND @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
FOREACH (k IN [k IN [@valid_to_key, @expired_key] WHERE r[k] IS NOT NULL] |
  SET r['former_' + k] = [] + coalesce(r['former_' + k], []) + r[k]
  REMOVE r[k])
RETURN count(*) AS restored
