// restore-relations: takes back the retirement of relations: they hold again.
// The times are kept, in the lists former_KEY (as text, where values of several types meet there).
//
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
//
// returns: restored INTEGER, times INTEGER
// mode: write
MATCH ()-[r]->()
WHERE elementId(r) IN $element_ids
  AND @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
WITH r, size([k IN [@valid_to_key, @expired_key] WHERE r[k] IS NOT NULL]) AS times
WHERE times > 0
// writes:
FOREACH (k IN [k IN [@valid_to_key, @expired_key] WHERE r[k] IS NOT NULL] |
  SET r['former_' + k] = head([l IN [[] + coalesce(r['former_' + k], []) + r[k]] |
    [x IN l | CASE WHEN valueType(l) CONTAINS ' | ' THEN toStringOrNull(x) ELSE x END]])
  REMOVE r[k])
// counts:
RETURN count(*) AS restored, sum(times) AS times
