// dangling-source: source ids of entities and relations that name no chunk.
// The evidence that they point to is not in the database. Chunks that an importer had to make up (dangling) count as missing.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (c:@Chunk)
  RETURN @ref(c) AS id,
         CASE WHEN c.dangling = true THEN 0 ELSE 1 END AS chunk,
         COUNT {
           (c)-[m:@MENTION]-(e)
           WHERE @is(e, Entity)
         } AS entities, 0 AS relations, null AS first
  UNION ALL
  MATCH (e:@Entity)
  WHERE @entity_source_key IS NOT NULL
  UNWIND @named_sources(e, Entity) AS id
  RETURN id, 0 AS chunk, 1 AS entities, 0 AS relations, left(@display(e), 200) AS first
  UNION ALL
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE @is(r, RELATION)
    AND @relation_source_key IS NOT NULL
  UNWIND @named_sources(r, Relation) AS id
  RETURN id, 0 AS chunk, 0 AS entities, 1 AS relations, left(@display(a), 200) AS first
}
WITH id, max(chunk) AS known, sum(entities) AS entities, sum(relations) AS relations, min(first) AS first
WHERE id IS NOT NULL AND entities + relations > 0
WITH id, known = 0 AS hit, entities, relations, first
ORDER BY entities + relations DESC, id
WITH count(*) AS total, sum(CASE WHEN hit THEN 1 ELSE 0 END) AS count,
     collect(CASE WHEN hit THEN {items: [{element_id: null, key: left(id, 200), name: left(id, 200), type: null, kind: 'chunk'}],
       why: 'named by ' + toString(entities) + ' entities and ' + toString(relations) + ' relations'
         + coalesce(', as by ' + first, '')} END)[..$sample] AS sample
RETURN count, total, sample
