// fact-entities: the name and description of every entity, one after another, to be embedded (streamed).
//
// returns: element_id STRING, name STRING, description STRING
// mode: read
MATCH (e:@Entity)
WITH e, @shown(e) AS name
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, left(name, 300) AS name,
       left(@description(e, Entity), 1000) AS description
