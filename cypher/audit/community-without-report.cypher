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
WITH sum(communities) AS total, collect({level: level, bare: bare}) AS levels
CALL (levels) {
  UNWIND levels AS one
  UNWIND one.bare AS c
  WITH c, one.level AS level, left(coalesce(toStringOrNull(c.@community_key), elementId(c)), 200) AS key
  ORDER BY level, key, elementId(c) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(c), key: key, name: left(coalesce(toStringOrNull(c.title), toStringOrNull(c.name), key), 200),
    type: null, kind: 'community'}], why: 'on level ' + level}) AS sample
}
RETURN reduce(n = 0, one IN levels | n + size(one.bare)) AS count, total, sample
