// name-bearers: how many entities bear the commonest name, whatever its case and the spaces at its ends.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: bearers INTEGER
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH toLower(trim(@name(e))) AS name, count(*) AS bearers
WHERE name IS NOT NULL
RETURN coalesce(max(bearers), 0) AS bearers
