// entity-keys: the layout's own key of every entity that has one, one after another (streamed).
//
// returns: element_id STRING, key STRING
// mode: read
MATCH (e:@Entity)
WITH e, @key(e) AS key
WHERE key IS NOT NULL
RETURN elementId(e) AS element_id, left(key, 500) AS key
