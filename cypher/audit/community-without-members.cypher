// community-without-members: communities that nothing is in, in a graph where at least half have members; and those that list members
// that are gone, where at least half of all that are listed are there.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (c:@Community)
  WHERE c.@community_members_key IS :: LIST<ANY> NOT NULL
  UNWIND c.@community_members_key AS member
  RETURN toStringOrNull(member) AS id, c
  UNION ALL
  MATCH (e:@Entity)
  WHERE @community_members_key IS NOT NULL
  RETURN @key(e) AS id, null AS c
}
WITH id, collect(c) AS communities, count(*) - count(c) AS entities
WHERE id IS NOT NULL AND size(communities) > 0
WITH sum(CASE WHEN entities > 0 THEN 1 ELSE 0 END) AS known, count(*) AS named,
     collect(CASE WHEN entities = 0 THEN {id: id, communities: communities} END) AS gone
CALL (known, named, gone) {
  UNWIND CASE WHEN 2 * known >= named THEN gone ELSE [] END AS one
  UNWIND one.communities AS c
  WITH c, collect(one.id) AS ids
  RETURN collect({c: c, ids: ids}) AS lacking
}
CALL () {
  MATCH (c:@Community)
  WITH c, EXISTS {
    MATCH (c)-[m:@MEMBER]-(e)
    WHERE @is(e, Entity)
  } OR EXISTS {
    MATCH (c)<-[p:@PARENT]-(k)
    WHERE @is(k, Community)
  } OR EXISTS {
    MATCH (c)-[m:@MEMBER]->(k)
    WHERE @is(k, Community)
      AND NOT @is(m, PARENT)
  } AS peopled
  RETURN count(*) AS communities, sum(CASE WHEN peopled THEN 1 ELSE 0 END) AS peopled, collect(CASE WHEN NOT peopled THEN c END) AS empty
}
WITH communities, CASE WHEN 2 * peopled >= communities THEN empty ELSE [] END AS empty, lacking, 2 * peopled >= communities AS has_members
WITH CASE WHEN has_members OR size(lacking) > 0 THEN communities ELSE 0 END AS total,
  [c IN empty | {c: c, why: CASE WHEN any(k IN @community_report_keys WHERE c[k] IS NOT NULL)
    THEN 'it has a report, and nothing is in it' ELSE 'nothing is in it' END}]
  + [one IN lacking WHERE NOT one.c IN empty | {c: one.c, why: toString(size(one.ids)) + CASE size(one.ids)
    WHEN 1 THEN ' member that it lists is gone: ' ELSE ' members that it lists are gone, as ' END + left(one.ids[0], 80)}] AS hits
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
