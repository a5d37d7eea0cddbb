// coverage-types: the types of named entities that are not in a list, with how many entities each has.
// With an empty list: every type. An entity without a type is counted under null.
//
// :param covered => []            -- LIST OF STRING: types that a set of questions covers
//
// returns: type STRING, entities INTEGER
// mode: read
MATCH (e:@Entity)
WHERE trim(coalesce(@shown(e), '')) <> ''
WITH left(@type(e), 200) AS type, count(*) AS entities
WHERE type IS NULL OR NOT type IN $covered
RETURN type, entities
ORDER BY entities DESC, type
