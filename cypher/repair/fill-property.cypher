// fill-property: gives entities and relations a value of a property that they lack.
// What a uniqueness constraint would refuse stays as it is, and is counted.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities and relations, as the finding lists them
// :param property => 'born'              -- STRING: the property
// :param value => 'unknown'              -- ANY: its value
// :param unique => [{on: 'Ship', properties: ['id']}] -- LIST OF MAP: what constraints declare unique, as kgeval fills it in
//
// returns: filled INTEGER, refused INTEGER
// mode: write
CALL () {
  MATCH (x:@Entity)
  WHERE elementId(x) IN $element_ids AND x[$property] IS NULL AND $value IS NOT NULL
  RETURN x
  UNION ALL
  MATCH ()-[x]->()
  WHERE elementId(x) IN $element_ids AND x[$property] IS NULL AND $value IS NOT NULL
    AND @is(x, RELATION) AND @is(startNode(x), Entity) AND @is(endNode(x), Entity)
  RETURN x
}
WITH collect(x) AS chosen
CALL (chosen) {
  UNWIND [u IN $unique WHERE $property IN u.properties] AS u
  CALL (u, chosen) {
    UNWIND chosen AS x
    WITH u, x WHERE u.on IN CASE WHEN x IS :: NODE NOT NULL THEN labels(x) ELSE [type(x)] END
    RETURN x, [k IN u.properties | CASE WHEN k = $property THEN $value ELSE x[k] END] AS values
    UNION ALL
    MATCH (o) WHERE u.on IN labels(o) AND o[$property] = $value
    RETURN null AS x, [k IN u.properties | o[k]] AS values
    UNION ALL
    MATCH ()-[o]->() WHERE type(o) = u.on AND o[$property] = $value
    RETURN null AS x, [k IN u.properties | o[k]] AS values
  }
  WITH u, values, collect(x) AS mine, count(*) AS bearers
  WHERE bearers > 1 AND none(v IN values WHERE v IS NULL)
  UNWIND mine AS x
  RETURN collect(DISTINCT x) AS refused
}
WITH [x IN chosen WHERE NOT x IN refused] AS filled, refused
// writes:
FOREACH (x IN filled | SET x[$property] = $value)
// counts:
RETURN size(filled) AS filled, size(refused) AS refused
