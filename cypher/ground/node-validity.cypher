// node-validity: whether the given nodes are no longer valid today; only nodes that carry a property of time.
// Validity may be a temporal value, ISO text, or a number of seconds or milliseconds since 1970.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids
//
// returns: element_id STRING, expired BOOLEAN
// mode: read
WITH datetime() AS now
MATCH (n)
WHERE elementId(n) IN $ids
  AND any(k IN [$layout.valid_from_key, $layout.valid_to_key, $layout.expired_key] WHERE n[k] IS NOT NULL)
WITH now, n, n[$layout.valid_to_key] AS until, n[$layout.expired_key] AS expired
RETURN elementId(n) AS element_id, expired IS NOT NULL OR CASE
  WHEN until IS NULL THEN false
  WHEN until IS :: STRING THEN until =~ '\\d{4}(-.*)?' AND left(until, 19) <= left(toString(now), 19)
  WHEN until IS :: INTEGER OR until IS :: FLOAT THEN until <= CASE WHEN until > 100000000000 THEN now.epochMillis ELSE now.epochSeconds END
  ELSE coalesce(until <= now, until <= date(now), until <= localdatetime(now), false)
END AS expired
