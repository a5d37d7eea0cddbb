// coverage-degrees: the named entities whose degree is in one of the given ranges, those with the most relations first.
// Degree: relations with other named entities, parallel ones each, self-loops not.
//
// :param ranges => [[8, 15]]      -- LIST OF LIST OF INTEGER: lowest and highest degree of each bucket that no question covers
//
// returns: element_id STRING, name STRING, type STRING, degree INTEGER
// mode: read
MATCH (e:@Entity)
WHERE trim(coalesce(@shown(e), '')) <> ''
WITH e, COUNT {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND trim(coalesce(@shown(o), '')) <> ''
    AND @is(o, Endpoint)
} AS degree
WHERE any(range IN $ranges WHERE range[0] <= degree AND degree <= range[1])
RETURN elementId(e) AS element_id, left(@shown(e), 300) AS name,
       left(@type(e), 200) AS type, degree
ORDER BY degree DESC, name
