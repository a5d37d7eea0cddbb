// community-without-parent: communities without a parent on a level where at least half have one; and those whose parent is not there.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (c:@Community)
  WITH collect(DISTINCT toStringOrNull(c.@community_key)) AS keys
  MATCH (c:@Community)
  WITH keys, c, toStringOrNull(c.@community_level_key) AS level, toStringOrNull(c.@community_parent_key) AS named, EXISTS {
    MATCH (c)-[p:@PARENT]->(k)
    WHERE @is(k, Community)
  } AS linked
  RETURN c, level, linked, named, named IS NOT NULL AND NOT named IN ['', '-1', '-1.0', 'NaN'] AS names_one,
         named IN keys AS known
}
WITH level, count(*) AS communities, sum(CASE WHEN linked OR names_one THEN 1 ELSE 0 END) AS childs,
     collect({c: c, linked: linked, named: named, names_one: names_one, known: known}) AS all
WHERE 2 * childs >= communities
WITH sum(communities) AS total, collect({level: level, all: [one IN all WHERE NOT one.linked AND NOT (one.names_one AND one.known)]}) AS levels
WITH total, levels, reduce(hits = [], one IN levels | hits + [hit IN one.all | {c: hit.c, why: CASE WHEN hit.names_one
  THEN 'its parent ' + left(hit.named, 80) + ' is not there' ELSE 'it has none, on level ' + coalesce(one.level, '?') END}]) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit.c AS c, hit.why AS why
WITH total, count, c, why, left(coalesce(toStringOrNull(c.@community_key), elementId(c)), 200) AS key
ORDER BY key, elementId(c) LIMIT $sample
RETURN count, total, collect(CASE WHEN c IS NOT NULL THEN {
  items: [{element_id: elementId(c), key: key, name: left(coalesce(toStringOrNull(c.title), toStringOrNull(c.name), key), 200),
  type: null, kind: 'community'}], why: why} END) AS sample
