// near-passages: the chunks whose texts hold the most of given terms, by the sum of the terms' weights.
// Texts are compared in lower case, with line ends and double spaces as one space; longest texts are cut.
//
// :param terms => [{term: 'ada', weight: 1.0}] -- LIST OF MAP: terms, in lower case, with weights above 0
// :param most => 8                -- INTEGER: chunks at most
//
// returns: id STRING, document STRING, text STRING, score FLOAT
// mode: read
MATCH (c:@Chunk)
WITH c, @ref(c) AS id,
     @text(c) AS said
WITH c, id, said, reduce(t = toLower(said),
       x IN [['\r', ' '], ['\n', ' '], ['\t', ' '], ['\u00a0', ' '], ['’', '\''], ['   ', ' '], ['  ', ' ']] | replace(t, x[0], x[1])) AS text
WITH c, id, said, reduce(s = 0.0, t IN $terms | s + CASE WHEN text CONTAINS t.term THEN t.weight ELSE 0.0 END) AS score
WHERE score > 0
WITH c, id, left(said, 50000) AS text, score
ORDER BY score DESC, id LIMIT $most
CALL (c) {
  OPTIONAL MATCH (c)-[d:@IN_DOCUMENT]-(doc)
  WHERE @is(doc, Document)
  RETURN min(coalesce(toStringOrNull(doc.@document_key), elementId(doc))) AS document
}
RETURN id, document, text, score
ORDER BY score DESC, id
