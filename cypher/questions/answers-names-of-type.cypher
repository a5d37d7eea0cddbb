// answers-names-of-type: names of entities of one type, a part of them that the seed decides.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param type => 'PERSON'         -- STRING: the type
// :param seed => 7                -- INTEGER: decides which
// :param most => 50               -- INTEGER: names at most
//
// returns: name STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
  AND left(@type(e), 200) = $type
WITH DISTINCT left(@shown(e), 300) AS name
WHERE size(split(name, ' ')) > 1
// a number out of the name's own characters and the seed, so that the same names come back after a rebuild
WITH name, reduce(h = $seed % 100003, i IN range(0, size(name) - 1) | (h * 31 + size(split(name, substring(name, i, 1))) + i) % 100003) AS place
RETURN name ORDER BY place, name LIMIT $most
