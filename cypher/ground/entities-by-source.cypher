// entities-by-source: how many entities come from each chunk, of those that come from one chunk or none.
//
// :param types => ['KNOWS']        -- LIST OF STRING: types to count apart; null = all together
//
// returns: ids LIST OF STRING, type STRING, count INTEGER
// mode: read
MATCH (e:@Entity)
WHERE @shown(e) IS NOT NULL
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  RETURN collect(DISTINCT @ref(c)) AS linked
}
WITH e, linked + [x IN @named_sources(e, Entity) WHERE NOT x IN linked] AS ids
WHERE size(ids) < 2
RETURN ids, CASE WHEN left(@type(e), 200) IN $types THEN left(@type(e), 200) END AS type, count(*) AS count
