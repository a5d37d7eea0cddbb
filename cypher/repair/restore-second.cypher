// restore-second: takes back the retirement of all relations that were retired in one second: they hold again.
// The times are kept, in the lists former_KEY (as text, where values of several types meet there).
//
// :param second => '2024-05-01T10:00:00' -- STRING: the second, as the finding says it (seconds since 1970 where times are numbers)
//
// returns: restored INTEGER, times INTEGER
// mode: write
MATCH ()-[r]->()
WHERE r[coalesce(@expired_key, @valid_to_key)] IS NOT NULL
  AND @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
WITH r, r[coalesce(@expired_key, @valid_to_key)] AS at
WITH r, coalesce(toString(CASE WHEN at IS :: INTEGER OR at IS :: FLOAT
  THEN toInteger(CASE WHEN at > 100000000000 THEN at / 1000 ELSE at END) END), left(toStringOrNull(at), 19)) AS second
WHERE second = $second
WITH r, size([k IN [@valid_to_key, @expired_key] WHERE r[k] IS NOT NULL]) AS times
// writes:
FOREACH (k IN [k IN [@valid_to_key, @expired_key] WHERE r[k] IS NOT NULL] |
  SET r['former_' + k] = head([l IN [[] + coalesce(r['former_' + k], []) + r[k]] |
    [x IN l | CASE WHEN valueType(l) CONTAINS ' | ' THEN toStringOrNull(x) ELSE x END]])
  REMOVE r[k])
// counts:
RETURN count(*) AS restored, sum(times) AS times
