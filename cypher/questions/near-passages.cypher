// near-passages: the chunks whose texts hold the most of given terms, by the sum of the terms' weights.
// Texts are compared in lower case, with line ends and double spaces as one space; longest texts are cut.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param terms => [{term: 'ada', weight: 1.0}] -- LIST OF MAP: terms, in lower case, with weights above 0
// :param most => 8                -- INTEGER: chunks at most
//
// returns: id STRING, document STRING, text STRING, score FLOAT
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
WITH c, coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id,
     head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]) AS said
WITH c, id, said, reduce(t = toLower(said),
       x IN [['\r', ' '], ['\n', ' '], ['\t', ' '], ['\u00a0', ' '], ['’', '\''], ['   ', ' '], ['  ', ' ']] | replace(t, x[0], x[1])) AS text
WITH c, id, said, reduce(s = 0.0, t IN $terms | s + CASE WHEN text CONTAINS t.term THEN t.weight ELSE 0.0 END) AS score
WHERE score > 0
WITH c, id, left(said, 50000) AS text, score
ORDER BY score DESC, id LIMIT $most
CALL (c) {
  OPTIONAL MATCH (c)-[d]-(doc)
  WHERE type(d) IN $layout.chunk_document_types AND any(l IN labels(doc) WHERE l IN $layout.document_labels)
  RETURN min(coalesce(toStringOrNull(doc[$layout.document_key]), elementId(doc))) AS document
}
RETURN id, document, text, score
ORDER BY score DESC, id
