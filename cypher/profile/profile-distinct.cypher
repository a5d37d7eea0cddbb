// profile-distinct: how many nodes of a label have a property, and how many values differ: which properties are keys.
//
// :param candidates => [{label: 'Person', key: 'id'}] -- LIST OF MAP: labels and properties to count
//
// returns: label STRING, key STRING, filled INTEGER, values INTEGER
// mode: read
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(c IN $candidates WHERE c.label = l))
UNWIND [c IN $candidates WHERE c.label IN labels(n)] AS c
WITH c.label AS label, c.key AS key, n[c.key] AS value
WHERE value IS NOT NULL
RETURN label, key, count(value) AS filled, count(DISTINCT value) AS values
ORDER BY label, key
