// rename-type: gives all entities of one type another one, in the layout's property and as label, where it is either.
// The type that goes is kept, in the list former_type. What a uniqueness constraint would refuse stays as it is, and is counted.
//
// :param from => 'Boat'                  -- STRING: the type that goes
// :param to => 'Ship'                    -- STRING: the type that they get
// :param unique => [{on: 'Ship', properties: ['id']}] -- LIST OF MAP: what constraints declare unique, as kgeval fills it in
//
// returns: renamed INTEGER, refused INTEGER
// mode: write
MATCH (e:@Entity)
WHERE $from <> $to AND ($from IN [l IN labels(e) WHERE NOT l IN @type_label_ignored AND l <> coalesce(@scope_label, '')]
  OR toStringOrNull(e.@type_key) = $from)
WITH collect(e) AS chosen
CALL (chosen) {
  UNWIND [u IN $unique WHERE u.on = $to] AS u
  CALL (u, chosen) {
    UNWIND chosen AS e
    WITH u, e WHERE $from IN labels(e) AND NOT u.on IN labels(e)
    RETURN e, [k IN u.properties | e[k]] AS values
    UNION ALL
    MATCH (o) WHERE u.on IN labels(o)
    RETURN null AS e, [k IN u.properties | o[k]] AS values
  }
  WITH u, values, collect(e) AS mine, count(*) AS bearers
  WHERE bearers > 1 AND none(v IN values WHERE v IS NULL)
  UNWIND mine AS e
  RETURN collect(DISTINCT e) AS refused
}
WITH refused, [e IN chosen WHERE NOT e IN refused] AS renamed
// writes:
CALL (renamed) {
  UNWIND renamed AS e
  WITH e, [l IN labels(e) WHERE l = $from AND NOT l IN @type_label_ignored AND l <> coalesce(@scope_label, '')] AS gone
  REMOVE e:$(gone)
  SET e:$([l IN gone | $to]), e.former_type = [x IN [] + coalesce(e.former_type, []) | toStringOrNull(x)] + $from
  FOREACH (k IN [k IN [@type_key] WHERE toStringOrNull(e[k]) = $from] | SET e[k] = $to)
}
// counts:
RETURN size(renamed) AS renamed, size(refused) AS refused
