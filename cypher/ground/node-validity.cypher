// node-validity: whether the given nodes are no longer valid today; only nodes that carry a property of time.
// Validity may be a temporal value, ISO text, or a number of seconds or milliseconds since 1970.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids
//
// returns: element_id STRING, expired BOOLEAN
// mode: read
WITH datetime() AS now
MATCH (n)
WHERE elementId(n) IN $ids
  AND any(k IN [@valid_from_key, @valid_to_key, @expired_key] WHERE n[k] IS NOT NULL)
WITH now, n, n.@valid_to_key AS until, n.@expired_key AS expired
RETURN elementId(n) AS element_id, expired IS NOT NULL OR CASE
  WHEN until IS NULL THEN false
  WHEN until IS :: STRING THEN until =~ '\\d{4}(-.*)?' AND left(until, 19) <= left(toString(now), 19)
  WHEN until IS :: INTEGER OR until IS :: FLOAT THEN until <= CASE WHEN until > 100000000000 THEN now.epochMillis ELSE now.epochSeconds END
  ELSE coalesce(until <= now, until <= date(now), until <= localdatetime(now), false)
END AS expired
