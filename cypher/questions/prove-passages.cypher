// prove-passages: the chunks whose text holds one of the terms, longest texts cut.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param terms => ['ada']         -- LIST OF STRING: terms, in lower case
// :param most => 500              -- INTEGER: chunks at most
//
// returns: id STRING, text STRING
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
WITH coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id,
     reduce(t = toLower(head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])])),
       x IN [['\r', ' '], ['\n', ' '], ['\t', ' '], ['\u00a0', ' '], ['’', '\''], ['   ', ' '], ['  ', ' ']] | replace(t, x[0], x[1])) AS text
WHERE any(term IN $terms WHERE text CONTAINS term)
RETURN id, left(text, 50000) AS text
ORDER BY id LIMIT $most
