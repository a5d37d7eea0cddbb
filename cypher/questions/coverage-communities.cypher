// coverage-communities: the entity of each community that has the most relations, with those that it is joined to.
// Communities are found in GDS and have no name of their own: the best joined entity stands for each.
//
// :param heads => ['4:x:1']       -- LIST OF STRING: element ids, one entity a community that no question covers
// :param most => 10               -- INTEGER: neighbours named at most
//
// returns: element_id STRING, name STRING, type STRING, neighbours LIST OF STRING
// mode: read
UNWIND range(0, size($heads) - 1) AS place
MATCH (e)
WHERE elementId(e) = $heads[place]
CALL (e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
  WITH DISTINCT left(@shown(o), 300) AS name
  WHERE name IS NOT NULL
  ORDER BY name
  LIMIT $most
  RETURN collect(name) AS neighbours
}
WITH place, e, neighbours
ORDER BY place
RETURN elementId(e) AS element_id, left(@shown(e), 300) AS name,
       left(@type(e), 200) AS type, neighbours
