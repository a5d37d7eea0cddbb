// same-record: values that hardly any two nodes of a label share, some nodes at a time: what is looked for is who shares them.
// A node is a list: element id, key, name, label, values in the order of `keys`. The last step is Python.
//
// :param keys => {User: ['phone', 'email']} -- MAP: by label the properties whose values tell its nodes apart
// :param slice => 1000                      -- INTEGER: nodes a row
//
// returns: rows LIST OF LIST
// mode: read
MATCH (e:@Entity)
WHERE any(l IN labels(e) WHERE l IN keys($keys))
WITH collect(e) AS found
UNWIND range(0, size(found) - 1, $slice) AS at
CALL (found, at) {
  UNWIND found[at..at + $slice] AS e
  WITH e, @display(e) AS name, [l IN labels(e) WHERE l IN keys($keys)][0] AS label
  RETURN collect([elementId(e), coalesce(@key(e), name), name, label,
    [k IN $keys[label] | left(toStringOrNull(e[k]), 200)]]) AS rows
}
RETURN rows
