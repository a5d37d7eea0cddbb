// wrongly-cited-chunk: every entity with its names and the chunks that it is said to come from.
// The step after it reads each chunk once (probe/chunk-sources.cypher) and lists the chunks that name hardly any of their entities.
//
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: element_id STRING, key STRING, name STRING, type STRING, aliases LIST OF STRING, chunks LIST OF STRING, ids LIST OF STRING
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, @name(e) AS name
WHERE name IS NOT NULL
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  RETURN collect(DISTINCT elementId(c)) AS chunks
}
RETURN elementId(e) AS element_id, left(coalesce(@key(e), name), 200) AS key, left(name, 1000) AS name,
       @type(e) AS type,
       @aliases(e) AS aliases,
       chunks, @sources(e, Entity) AS ids
