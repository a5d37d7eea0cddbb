// relation-validity: whether the given relations are no longer valid today.
// Validity may be a temporal value, ISO text, or a number of seconds or milliseconds since 1970.
//
// :param ids => ['5:x:1']         -- LIST OF STRING: element ids
//
// returns: element_id STRING, expired BOOLEAN
// mode: read
WITH datetime() AS now
MATCH ()-[r]->()
WHERE elementId(r) IN $ids
WITH now, r, r.@valid_to_key AS until, r.@expired_key AS expired
RETURN elementId(r) AS element_id, expired IS NOT NULL OR CASE
  WHEN until IS NULL THEN false
  WHEN until IS :: STRING THEN until =~ '\\d{4}(-.*)?' AND left(until, 19) <= left(toString(now), 19)
  WHEN until IS :: INTEGER OR until IS :: FLOAT THEN until <= CASE WHEN until > 100000000000 THEN now.epochMillis ELSE now.epochSeconds END
  ELSE coalesce(until <= now, until <= date(now), until <= localdatetime(now), false)
END AS expired
