// told-names: all names and aliases of every entity in one text, one row an entity (streamed; a run's searches read all names once).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, id STRING, text STRING
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, reduce(all = [left(@shown(e), 2000)], k IN $layout.name_keys + $layout.alias_keys | all + CASE
       WHEN e[k] IS NULL THEN []
       WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] | left(toStringOrNull(x), 2000)]
       ELSE [left(toStringOrNull(e[k]), 2000)] END) AS spelled
RETURN elementId(e) AS element_id, '' AS id, reduce(all = '', x IN spelled | all + '\u0001' + coalesce(x, '')) AS text
