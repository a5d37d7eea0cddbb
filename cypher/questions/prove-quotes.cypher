// prove-quotes: in which documents a term stands, for many terms at once; found by the texts of chunks.
// Texts are compared in lower case, with line ends and double spaces as one space.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param terms => ['ada']         -- LIST OF STRING: terms, in lower case
//
// returns: term STRING, documents LIST OF STRING, without INTEGER, chunks LIST OF STRING
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
WITH c, reduce(t = toLower(head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])])),
       x IN [['\r', ' '], ['\n', ' '], ['\t', ' '], ['\u00a0', ' '], ['’', '\''], ['   ', ' '], ['  ', ' ']] | replace(t, x[0], x[1])) AS text
UNWIND $terms AS term
WITH c, term WHERE text CONTAINS term
CALL (c) {
  OPTIONAL MATCH (c)-[d]-(doc)
  WHERE type(d) IN $layout.chunk_document_types AND any(l IN labels(doc) WHERE l IN $layout.document_labels)
  RETURN min(coalesce(toStringOrNull(doc[$layout.document_key]), elementId(doc))) AS document
}
WITH term, document, coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id
ORDER BY document, id
RETURN term, collect(DISTINCT document) AS documents, count(*) - count(document) AS without, collect(id)[..50] AS chunks
