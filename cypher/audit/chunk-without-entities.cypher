// chunk-without-entities: chunks from which no entity and no relation came.
// Either the text says nothing, or the extraction failed or was cut off: its facts cannot be found through the graph.
// Where chunks keep their texts, nodes without one are stand-ins (LlamaIndex writes one a document) and are left out, and a text too short
// to state a fact ("Great, thanks!") is no hit.
//
// :param sample => 5              -- INTEGER: examples to return
// :param min_characters => 20     -- INTEGER: characters from which a text may state a fact
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (c:@Chunk)
  WHERE (size(@chunk_text_keys) = 0 OR any(k IN @chunk_text_keys WHERE c[k] IS NOT NULL))
  RETURN @id(c) AS id, c, EXISTS {
    MATCH (c)-[m:@MENTION]-(e)
    WHERE @is(e, Entity)
  } OR coalesce(size(trim(@text(c))) < $min_characters, false) AS used
  UNION ALL
  MATCH (e:@Entity)
  WHERE @entity_source_key IS NOT NULL
  UNWIND @sources(e, Entity) AS id
  WITH DISTINCT id
  RETURN id, null AS c, true AS used
  UNION ALL
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE @is(r, RELATION) AND @relation_source_key IS NOT NULL
  UNWIND @sources(r, Relation) AS id
  WITH DISTINCT id
  RETURN id, null AS c, true AS used
}
WITH CASE WHEN id IS NULL THEN elementId(c) ELSE id END AS id, collect(c) AS chunks, max(CASE WHEN used THEN 1 ELSE 0 END) AS by_id,
     [x IN collect(CASE WHEN NOT used THEN c END) | x] AS unlinked, max(CASE WHEN c IS NULL THEN 1 ELSE 0 END) AS named
WITH size(chunks) AS size, CASE WHEN named = 1 THEN [] ELSE unlinked END AS empty
WITH sum(size) AS total, collect(CASE WHEN size(empty) > 0 THEN empty END) AS lists
WITH total, reduce(n = 0, list IN lists | n + size(list)) AS count, CASE WHEN isEmpty(lists) THEN [[null]] ELSE lists END AS lists
UNWIND lists AS list
UNWIND list AS c
WITH total, count, c, count(*) AS once
WITH total, count, c, @id(c) AS id,
     @text(c) AS text
ORDER BY size(coalesce(text, '')) DESC, id, elementId(c) LIMIT $sample
RETURN count, total, collect(CASE WHEN c IS NOT NULL THEN {
  items: [{element_id: elementId(c), key: left(coalesce(id, elementId(c)), 200), name: left(coalesce(id, elementId(c)), 200), type: null, kind: 'chunk'}],
  why: toString(size(coalesce(text, ''))) + ' characters: ' + left(coalesce(text, ''), 80)} END) AS sample
