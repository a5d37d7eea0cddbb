// sample-entities: every entity that has a name, with its key, type and degree (streamed).
// Degree: its relations with other such entities, parallel ones each, self-loops not: what cannot be named cannot be asked about.
//
// returns: element_id STRING, key STRING, name STRING, type STRING, degree INTEGER
// mode: read
MATCH (e:@Entity)
WHERE trim(coalesce(@shown(e), '')) <> ''
RETURN elementId(e) AS element_id, left(@key(e), 300) AS key, left(@shown(e), 300) AS name,
       left(@type(e), 200) AS type,
       COUNT {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND trim(coalesce(@shown(o), '')) <> ''
    AND @is(o, Endpoint)
} AS degree
