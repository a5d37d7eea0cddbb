// shorten-name: gives one entity a short name; the long one becomes its description, where it has none, and is kept in the list former_KEY.
// Where a uniqueness constraint would refuse the name, it stays as it is, and is counted. Repeat it for each entity.
//
// :param element_id => '4:...:1'         -- STRING: the entity
// :param name => 'Works of 1907'         -- STRING: its short name
// :param unique => [{on: 'Ship', properties: ['id']}] -- LIST OF MAP: what constraints declare unique, as kgeval fills it in
//
// returns: renamed INTEGER, refused INTEGER
// mode: write
MATCH (e:@Entity)
WHERE elementId(e) = $element_id
WITH e, @name(e) AS long, head([k IN @name_keys WHERE e[k] IS NOT NULL]) AS key
WHERE key IS NOT NULL AND long <> $name
WITH e, long, key, EXISTS {
  UNWIND [u IN $unique WHERE key IN u.properties AND u.on IN labels(e)] AS u
  MATCH (o) WHERE o <> e AND u.on IN labels(o) AND all(k IN u.properties WHERE o[k] = CASE WHEN k = key THEN $name ELSE e[k] END)
} AS refused
WITH collect(CASE WHEN NOT refused THEN {e: e, key: key, long: long} END) AS renamed, sum(CASE WHEN refused THEN 1 ELSE 0 END) AS refused
// writes:
CALL (renamed) {
  UNWIND renamed AS one
  WITH one.e AS e, one.key AS key, one.long AS long
  SET e['former_' + key] = [x IN [] + coalesce(e['former_' + key], []) + e[key] | toStringOrNull(x)], e[key] = $name
  FOREACH (d IN [k IN [@description_key] WHERE k IS NOT NULL AND e[k] IS NULL] | SET e[d] = long)
}
// counts:
RETURN size(renamed) AS renamed, refused
