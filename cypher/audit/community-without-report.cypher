// community-without-report: communities of two members or more without a report, on a level where at least half of such have one.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (c:@Community)
WITH c, toStringOrNull(c.@community_level_key) AS level,
     any(k IN @community_report_keys WHERE trim(coalesce(toStringOrNull(c[k]), '')) <> '') AS reported, COUNT {
  MATCH (c)-[m:@MEMBER]-(e)
  WHERE @is(e, Entity)
  RETURN DISTINCT e LIMIT 2
} + COUNT {
  MATCH (c)<-[p:@PARENT]-(k)
  WHERE @is(k, Community)
  RETURN DISTINCT k LIMIT 2
} AS members
WHERE members > 1
WITH level, count(*) AS communities, sum(CASE WHEN reported THEN 1 ELSE 0 END) AS reported, collect(CASE WHEN NOT reported THEN c END) AS bare
WHERE 2 * reported >= communities
WITH sum(communities) AS total, sum(size(bare)) AS count, collect([c IN bare | {c: c, level: level}]) AS levels
WITH total, count, CASE count WHEN 0 THEN [[null]] ELSE levels END AS levels
UNWIND levels AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit.c AS c, hit.level AS level
WITH total, count, c, level, left(coalesce(toStringOrNull(c.@community_key), elementId(c)), 200) AS key
ORDER BY level, key, elementId(c) LIMIT $sample
RETURN count, total, collect(CASE WHEN c IS NOT NULL THEN {
  items: [{element_id: elementId(c), key: key, name: left(coalesce(toStringOrNull(c.title), toStringOrNull(c.name), key), 200),
    type: null, kind: 'community'}], why: 'on level ' + level} END) AS sample
