// chunk-keys: what a chunk may be named by: its element id and its ids, one row a key (streamed).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: element_id STRING, key STRING
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
UNWIND [elementId(c)] + [k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])] AS key
WITH c, key
WHERE key IS NOT NULL
RETURN elementId(c) AS element_id, key
