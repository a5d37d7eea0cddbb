// two-at-once: relations by which a node takes part in something at a time at which it takes part in another thing: a referee of two matches
// at one moment, a room with two courses that overlap, a player with two clubs and no end of either. Times that only touch do not overlap.
// `nodes`, `share`: of 1,000,003 parts of all nodes those that are looked at, and of what they take part in those whose times are returned.
// `kind`: moment; span (a beginning and an end); any (a span without an end goes on); open (only those without an end).
//
// :param asked => [{at: 0, types: ['REFEREED_BY'], start: 'Match', end: 'Referee', holder: 'end', own: false, kind: 'moment', day: 'date', clock: 'kickoff', last: null, last_clock: null, lasts: null, unit: 1.0, within: [], flags: [], states: [], nodes: 1000003, share: 1000003}] -- LIST OF MAP: who takes part in what, and the properties that say when
// :param sample => 5                                       -- INTEGER: examples to return
//
// returns: at INTEGER, relations INTEGER, able INTEGER, holders INTEGER, several INTEGER, pairs INTEGER, hits INTEGER, times LIST OF LIST, sample LIST OF MAP
// mode: read
MATCH (a:@Node)-[r]->(b:@Node)
WHERE any(s IN $asked WHERE type(r) IN s.types) AND a <> b
// numbers for what is asked: each row would hold all of it
UNWIND [i IN range(0, size($asked) - 1) WHERE type(r) IN $asked[i].types AND $asked[i].start IN labels(a) AND $asked[i].end IN labels(b)] AS i
WITH i, r, CASE $asked[i].holder WHEN 'start' THEN a ELSE b END AS n, CASE $asked[i].holder WHEN 'start' THEN b ELSE a END AS o
WHERE (toInteger(last(split(elementId(n), ':'))) % 1000003) * 618037 % 1000003 < $asked[i].nodes
CALL (i, r, o) {
  WITH $asked[i] AS s, r, o
  WITH s, r, o, [k IN [s.day, s.clock, s.last, s.last_clock, s.lasts] | CASE WHEN s.own THEN r[k] ELSE o[k] END] AS values
  // what was called off takes nobody's time
  WHERE none(v IN [k IN s.states | CASE WHEN s.own THEN r[k] ELSE o[k] END] WHERE v = true
    OR toLower(toStringOrNull(v)) =~ '.*(cancel|postpone|declin|reject|delete|draft|no.?show|void|waitlist|abgesagt|storn|verschoben).*'
    OR toLower(toStringOrNull(v)) =~ '.*(abgelehnt|entwurf|annul|reporté|anulad|aplazad|rinviat|geannuleerd).*')
  WITH s, r, o, values, [v IN values | CASE
    WHEN v IS :: ZONED DATETIME NOT NULL THEN toString(datetime({datetime: v, timezone: 'Z'})) ELSE toStringOrNull(v) END] AS texts
  // a day and a time of day as minutes; months of 31 days keep the order
  WITH s, r, o, values, texts, [p IN [t IN texts[..4] | split(replace(replace(trim(t), 'T', ' '), 'h', ':'), ' ')] | CASE
    WHEN p[0] =~ '\\d\\d?:\\d\\d.*' THEN ['', p[0]] WHEN p[0] =~ '\\d\\d?:' THEN ['', p[0] + '00']
    WHEN p[0] =~ '\\d\\d?' THEN ['', '00:' + right('0' + p[0], 2)] ELSE [p[0], coalesce(p[1], '')] END] AS parts
  WITH s, r, o, values, texts, [p IN parts | CASE
      WHEN p[0] = '' THEN 0
      WHEN p[0] =~ '\\d{4}-\\d\\d?-\\d\\d?'
        THEN 1440 * (372 * toInteger(left(p[0], 4)) + 31 * toInteger(split(p[0], '-')[1]) + toInteger(split(p[0], '-')[2]))
      WHEN p[0] =~ '\\d\\d?[.]\\d\\d?[.]\\d{4}'
        THEN 1440 * (372 * toInteger(right(p[0], 4)) + 31 * toInteger(split(p[0], '.')[1]) + toInteger(split(p[0], '.')[0]))
    END + CASE
      WHEN p[1] =~ '\\d\\d?:\\d\\d.*' THEN 60 * toInteger(split(p[1], ':')[0]) + toInteger(left(split(p[1], ':')[1], 2))
        + coalesce(toIntegerOrNull(left(split(split(p[1], '+')[0], ':')[2], 2)), 0) / 60.0
      ELSE 0
    END - CASE
      WHEN p[1] =~ '.+[+-]\\d\\d:?\\d\\d' THEN CASE WHEN p[1] CONTAINS '+' THEN 1 ELSE -1 END
        * (60 * toInteger(left(last(split(replace(p[1], '-', '+'), '+')), 2)) + toInteger(right(p[1], 2)))
      ELSE 0
    END] AS at
  WITH s, r, o, values, texts, CASE WHEN s.day IS NULL THEN 0 ELSE at[0] END + CASE WHEN s.clock IS NULL THEN 0 ELSE at[1] END AS begin, at
  WHERE begin IS NOT NULL AND all(k IN s.within WHERE CASE WHEN s.own THEN r[k] ELSE o[k] END IS NOT NULL)
  WITH s, r, o, begin, CASE
    WHEN s.kind = 'moment' THEN begin + 0.001
    WHEN s.lasts IS NOT NULL THEN begin + s.unit * toFloatOrNull(texts[4])
    WHEN s.last_clock IS NOT NULL THEN CASE WHEN at[3] <= at[1] THEN begin - at[1] + at[3] + 1440 ELSE begin - at[1] + at[3] END
    WHEN trim(coalesce(texts[2], '')) = '' AND s.kind IN ['any', 'open'] THEN 1000000000000.0
    ELSE at[2]
  END AS end
  // what begins and ends at midnight, or is a moment there, lasts all day, if others have hours
  WHERE begin < end AND (s.kind <> 'moment' OR s.within <> [] OR begin % 1440 <> 0)
    AND NOT (begin % 1440 = 0 AND end - begin >= 1439 AND (s.last_clock IS NOT NULL OR s.lasts IS NOT NULL))
  RETURN begin, end, [v IN [k IN s.within + s.flags | CASE WHEN s.own THEN r[k] ELSE o[k] END] |
    CASE WHEN v = false THEN '' ELSE coalesce(toStringOrNull(v), '') END] AS kind
}
WITH i, elementId(r) AS r, n, toInteger(last(split(elementId(o), ':'))) AS o, begin, end, kind, count(*) AS one
// a count leaves nothing else in the rows that are sorted
WITH i, r, n, o, begin, end, kind
ORDER BY begin, r
WITH i, n, kind, count(DISTINCT o) AS different, collect([begin, end, o, r]) AS things
WITH i, n, different, things, CASE $asked[i].kind WHEN 'open' THEN [t IN things WHERE t[1] = 1000000000000.0] ELSE things END AS looked_at
WITH i, n, different, things, size(looked_at) AS opened, reduce(found = [null, []], t IN looked_at | [
  CASE WHEN found[0] IS NULL OR t[1] > found[0][1] THEN t ELSE found[0] END,
  CASE WHEN t[2] <> found[0][2] AND t[0] < found[0][1] AND size(found[1]) < 50 THEN found[1] + [[t[3], found[0][3]]] ELSE found[1] END])[1] AS hits
// who has many is able to have two
WITH i, n, different, things, opened, hits, size(hits) > 2 AND 4 * size(hits) > opened AS is_able
WITH i, count(DISTINCT n) AS holders, sum(CASE WHEN different > 1 THEN 1 ELSE 0 END) AS several, sum(opened) AS relations,
  sum(CASE WHEN is_able THEN opened ELSE 0 END) AS able, sum(CASE WHEN is_able THEN 0 ELSE different * (different - 1) / 2 END) AS pairs,
  sum(CASE WHEN is_able THEN 0 ELSE size(hits) END) AS hits, collect(CASE WHEN hits <> [] AND NOT is_able THEN hits END) AS found,
  collect([t IN things WHERE (t[2] % 1000003) * 618037 % 1000003 < $asked[i].share | t[..3]]) AS times
WITH $asked[i] AS s, relations, able, holders, several, pairs, hits, times,
  CASE WHEN hits <= 2 OR 50 * hits <= relations THEN found ELSE [] END AS found
RETURN s.at AS at, relations, able, holders, several, pairs, hits, times, COLLECT {
  UNWIND found AS some
  UNWIND some AS pair
  MATCH ()-[r]->() WHERE elementId(r) = pair[0]
  MATCH ()-[q]->() WHERE elementId(q) = pair[1]
  WITH r, q, left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200) AS name,
    left(@display(startNode(q)), 200) + ' -[' + type(q) + ']-> ' + left(@display(endNode(q)), 200) AS other
  LIMIT $sample
  WITH r, q, name, other, [l IN [r, q] | CASE WHEN s.own THEN properties(l)
    WHEN s.holder = 'start' THEN properties(endNode(l)) ELSE properties(startNode(l)) END] AS both
  WITH r, q, name, other, [x IN both | [v IN s.within + [s.day, s.clock, s.last, s.last_clock, s.lasts] WHERE v IS NOT NULL AND x[v] IS NOT NULL
    | v + ' ' + left(toStringOrNull(x[v]), 40)]] AS said
  RETURN {items: [{element_id: elementId(r), key: name, name: name, type: type(r), kind: 'relation'},
      {element_id: elementId(q), key: other, name: other, type: type(q), kind: 'relation'}],
    why: reduce(t = head(said[0]), v IN tail(said[0]) | t + ', ' + v) + ' beside ' + reduce(t = head(said[1]), v IN tail(said[1]) | t + ', ' + v)}
} AS sample
ORDER BY at
