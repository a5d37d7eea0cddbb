// expired-relation: relations that are no longer valid today but are still in the graph.
// Validity may be a temporal value, ISO text, or a number of seconds or milliseconds since 1970.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
WITH datetime() AS now
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH now, r, r.@valid_to_key AS until, r.@expired_key AS expired
WITH r, until, expired, expired IS NOT NULL OR CASE
  WHEN until IS NULL THEN false
  WHEN until IS :: STRING THEN until =~ '\\d{4}(-.*)?' AND left(until, 19) <= left(toString(now), 19)
  WHEN until IS :: INTEGER OR until IS :: FLOAT THEN until <= CASE WHEN until > 100000000000 THEN now.epochMillis ELSE now.epochSeconds END
  ELSE coalesce(until <= now, until <= date(now), until <= localdatetime(now), false)
END AS hit
WITH count(*) AS total, collect(CASE WHEN hit THEN r END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS r
WITH total, count, r, count(*) AS once
WITH total, count, r, toStringOrNull(r.@valid_to_key) AS until, toStringOrNull(r.@expired_key) AS expired
ORDER BY coalesce(until, expired), elementId(r) LIMIT $sample
WITH total, count, r, until, expired, left(@label(r), 200) AS label
WITH total, count, r, label, until, expired, left(@display(startNode(r)), 200) + ' -[' + label + ']-> ' + left(@display(endNode(r)), 200) AS name
RETURN count, total, collect(CASE WHEN r IS NOT NULL THEN {
  items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}],
  why: CASE WHEN until IS NOT NULL THEN 'valid until ' + left(until, 40) ELSE 'marked as expired ' + left(expired, 40) END} END) AS sample
