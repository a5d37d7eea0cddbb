// ends-not-in-source: every relation with its ends and the source ids that it carries.
// The step after it reads each chunk once (probe/chunk-sources.cypher) and lists the relations neither end of which stands in their chunks.
//
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: element_id STRING, source STRING, target STRING, label STRING, ids LIST OF STRING
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
  AND ($sample_share >= 1 OR ((toInteger(last(split(elementId(r), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
RETURN elementId(r) AS element_id, elementId(a) AS source, elementId(b) AS target, left(@label(r), 200) AS label,
       @sources(r, Relation) AS ids
