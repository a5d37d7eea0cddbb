// relations-by-source: how many relations come from each chunk, of those that name one chunk or none.
// Without sources of its own a relation comes from the chunks that mention both its ends.
//
// :param types => ['KNOWS']        -- LIST OF STRING: types to count apart; null = all together
//
// returns: ids LIST OF STRING, type STRING, count INTEGER
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH a, r, b, @named_sources(r, Relation) AS own
CALL (a, b, own) {
  WITH a, b, own
  WHERE size(own) = 0
  MATCH (a)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
    AND EXISTS { MATCH (c)-[n:@MENTION]-(b) }
  RETURN collect(DISTINCT @ref(c)) AS shared
}
WITH a, r, b, CASE WHEN size(own) = 0 THEN shared ELSE own END AS ids
WHERE size(ids) < 2
RETURN ids, CASE WHEN left(@label(r), 200) IN $types THEN left(@label(r), 200) END AS type, count(*) AS count
