// entity-properties: how many entities of each type carry each property, and with which kind of value.
//
// returns: label STRING, property STRING, value_type STRING, count INTEGER
// mode: read
MATCH (e:@Entity)
WITH e, left(coalesce(@type(e), '(none)'), 200) AS label
UNWIND keys(e) AS property
WITH label, property, valueType(e[property]) AS kind, count(*) AS uses
RETURN label, property, replace(kind, ' NOT NULL', '') AS value_type, sum(uses) AS count
ORDER BY label, property, value_type
