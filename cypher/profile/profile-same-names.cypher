// profile-same-names: nodes of one label that bear one name, with what else is stored on them: whether a name tells which thing is meant.
//
// :param names => [{label: 'Person', keys: ['name']}] -- LIST OF MAP: labels, and the properties that make up a name
// :param most => 50                 -- INTEGER: groups of each label that are told
// :param longest => 200             -- INTEGER: characters told of a value
//
// returns: label STRING, named INTEGER, repeated INTEGER, groups LIST
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(c IN $names WHERE c.label = l))
UNWIND [c IN $names WHERE c.label IN labels(n)] AS c
WITH c.label AS label, reduce(name = '', k IN c.keys | name + coalesce(toStringOrNull(n[k]) + ' ', '')) AS name, n
WHERE name <> ''
WITH label, name, count(*) AS times, collect(n)[..4] AS some
WITH label, sum(times) AS named, sum(CASE WHEN times > 1 THEN times ELSE 0 END) AS repeated,
  collect(CASE WHEN times > 1 THEN {name: name, some: some} END) AS groups
CALL (groups) {
  UNWIND groups AS one
  WITH one ORDER BY one.name LIMIT $most
  RETURN collect([n IN one.some | [k IN keys(n) WHERE NOT n[k] IS :: LIST<ANY> | [k, left(toStringOrNull(n[k]), $longest)]]]) AS told
}
RETURN label, named, repeated, told AS groups
ORDER BY label
