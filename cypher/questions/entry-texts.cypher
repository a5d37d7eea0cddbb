// entry-texts: name, type and description of every entity, one after another, to be embedded and searched (streamed).
//
// returns: element_id STRING, name STRING, type STRING, description STRING
// mode: read
MATCH (e:@Entity)
WITH e, @shown(e) AS name
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, left(name, 300) AS name,
       left(@type(e), 200) AS type,
       left(@description(e, Entity), 1000) AS description
