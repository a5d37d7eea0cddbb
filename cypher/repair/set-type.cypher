// set-type: gives entities a type: in the layout's property or, where types are labels, as the only label that is a type.
// The types that they had are kept, in the list former_type. What a uniqueness constraint would refuse stays as it is, and is counted.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them; leave out those that are right
// :param type => 'Person'                -- STRING: the type that they get
// :param unique => [{on: 'Ship', properties: ['id']}] -- LIST OF MAP: what constraints declare unique, as kgeval fills it in
//
// returns: typed INTEGER, refused INTEGER
// mode: write
MATCH (e:@Entity)
WHERE elementId(e) IN $element_ids AND CASE WHEN @type_key IS NULL
  THEN [l IN labels(e) WHERE NOT l IN @type_label_ignored AND l <> coalesce(@scope_label, '')] <> [$type]
  ELSE coalesce(e.@type_key <> $type, true) END
WITH collect(e) AS chosen
CALL (chosen) {
  UNWIND [u IN $unique WHERE u.on = $type AND @type_key IS NULL] AS u
  CALL (u, chosen) {
    UNWIND chosen AS e
    WITH u, e WHERE NOT u.on IN labels(e)
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
WITH refused, [e IN chosen WHERE NOT e IN refused] AS typed
// writes:
CALL (typed) {
  UNWIND typed AS e
  WITH e, CASE WHEN @type_key IS NULL THEN [l IN labels(e) WHERE NOT l IN @type_label_ignored AND l <> coalesce(@scope_label, '')]
    ELSE [] END AS gone
  WITH e, gone, [t IN gone + coalesce([] + e.@type_key, []) WHERE toStringOrNull(t) <> $type | toStringOrNull(t)] AS former
  REMOVE e:$(gone)
  SET e:$(CASE WHEN @type_key IS NULL THEN [$type] ELSE [] END)
  FOREACH (k IN [k IN ['former_type'] WHERE size(former) > 0] | SET e[k] = [x IN [] + coalesce(e[k], []) | toStringOrNull(x)] + former)
  FOREACH (k IN [k IN [@type_key] WHERE k IS NOT NULL] | SET e[k] = $type)
}
// counts:
RETURN size(typed) AS typed, size(refused) AS refused
