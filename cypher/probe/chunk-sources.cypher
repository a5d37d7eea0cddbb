// chunk-sources: every chunk's text with its element id and its own id (streamed).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param texts => true            -- BOOLEAN: false leaves the texts out
//
// returns: element_id STRING, id STRING, text STRING
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
WITH c, head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS text
WHERE text IS NOT NULL AND text <> ''
RETURN elementId(c) AS element_id, head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS id, CASE WHEN $texts THEN text END AS text
