// text-to-number: turns whole numbers that are kept as text into integers, for one property of one type.
// Only texts that the number gives back: '007' and '+1' stay, as all other values do, and what a uniqueness constraint would refuse.
//
// :param type => 'Person'                -- STRING: the type of entities or relations
// :param property => 'born'              -- STRING: the property
// :param unique => [{on: 'Ship', properties: ['id']}] -- LIST OF MAP: what constraints declare unique, as kgeval fills it in
//
// returns: changed INTEGER, refused INTEGER
// mode: write
CALL () {
  MATCH (x:@Entity)
  WHERE $type IN labels(x) + [toStringOrNull(x.@type_key)]
    AND x[$property] IS :: STRING NOT NULL AND trim(x[$property]) =~ '0|-?[1-9][0-9]{0,17}'
  RETURN x
  UNION ALL
  MATCH ()-[x]->()
  WHERE $type IN [type(x), @label(x)]
    AND @is(x, RELATION) AND @is(startNode(x), Entity) AND @is(endNode(x), Entity)
    AND x[$property] IS :: STRING NOT NULL AND trim(x[$property]) =~ '0|-?[1-9][0-9]{0,17}'
  RETURN x
}
WITH collect(x) AS chosen
CALL (chosen) {
  UNWIND [u IN $unique WHERE $property IN u.properties] AS u
  CALL (u, chosen) {
    UNWIND chosen AS x
    WITH u, x WHERE u.on IN CASE WHEN x IS :: NODE NOT NULL THEN labels(x) ELSE [type(x)] END
    RETURN x, [k IN u.properties | CASE WHEN k = $property THEN toInteger(trim(x[k])) ELSE x[k] END] AS values
    UNION ALL
    MATCH (o) WHERE u.on IN labels(o) AND (o[$property] IS :: INTEGER NOT NULL OR o[$property] IS :: FLOAT NOT NULL)
    RETURN null AS x, [k IN u.properties | o[k]] AS values
    UNION ALL
    MATCH ()-[o]->() WHERE type(o) = u.on AND (o[$property] IS :: INTEGER NOT NULL OR o[$property] IS :: FLOAT NOT NULL)
    RETURN null AS x, [k IN u.properties | o[k]] AS values
  }
  WITH u, values, collect(x) AS mine, count(*) AS bearers
  WHERE bearers > 1 AND none(v IN values WHERE v IS NULL)
  UNWIND mine AS x
  RETURN collect(DISTINCT x) AS refused
}
WITH [x IN chosen WHERE NOT x IN refused] AS changed, refused
// writes:
FOREACH (x IN changed | SET x[$property] = toInteger(trim(x[$property])))
// counts:
RETURN size(changed) AS changed, size(refused) AS refused
