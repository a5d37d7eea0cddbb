// equal-records: nodes of a label that share the value of a property in which nearly all of its nodes differ, with what they hold
// and what they are related to, whatever its role: at most $neighbours of each.
// A group is at most $most nodes; the step in Python looks whether they agree in everything but their keys.
//
// :param keys => {Match: ['date', 'attendance', 'round']} -- MAP: by label the properties that are compared
// :param by => {Match: 'attendance'}                      -- MAP: by label the one in which nearly all nodes differ
// :param neighbours => 200                                -- INTEGER: neighbours of a node, at most
// :param most => 5                                        -- INTEGER: nodes that share a value, at most
//
// returns: element_id STRING, key STRING, name STRING, label STRING, near LIST OF STRING, values LIST
// mode: read
MATCH (e:@Entity)
WHERE any(l IN labels(e) WHERE l IN keys($keys))
WITH e, [l IN labels(e) WHERE l IN keys($keys)][0] AS label
WITH e, label, e[$by[label]] AS value
WHERE value IS NOT NULL
WITH label, value, collect(e) AS same
WHERE 1 < size(same) AND size(same) <= $most
UNWIND same AS e
CALL (e) {
  MATCH (e)--(o)
  WHERE o <> e
  WITH o LIMIT $neighbours
  RETURN collect(DISTINCT elementId(o)) AS near
}
WITH e, label, near, @display(e) AS name
RETURN elementId(e) AS element_id, coalesce(@key(e), name, '') AS key, coalesce(name, '') AS name, label, near, [k IN $keys[label] |
  CASE WHEN valueType(e[k]) STARTS WITH 'LIST' THEN left(reduce(text = '[', x IN e[k] | text + coalesce(toStringOrNull(x), '') + ';'), 500)
  ELSE left(toStringOrNull(e[k]), 500) + CASE WHEN size(toStringOrNull(e[k])) > 500 THEN '#' + size(toStringOrNull(e[k])) ELSE '' END END] AS values
ORDER BY label, element_id
