// prove-texts: how many chunks hold a term in their text, for many terms at once.
// Texts are compared in lower case, with line ends and double spaces as one space.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param terms => ['ada']         -- LIST OF STRING: terms, in lower case
//
// returns: term STRING, chunks INTEGER, example STRING
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
WITH coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id,
     reduce(t = toLower(head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])])),
       x IN [['\r', ' '], ['\n', ' '], ['\t', ' '], ['\u00a0', ' '], ['’', '\''], ['   ', ' '], ['  ', ' ']] | replace(t, x[0], x[1])) AS text
UNWIND $terms AS term
WITH id, term WHERE text CONTAINS term
RETURN term, count(*) AS chunks, min(id) AS example
