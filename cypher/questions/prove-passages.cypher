// prove-passages: the chunks whose text holds one of the terms, longest texts cut.
//
// :param terms => ['ada']         -- LIST OF STRING: terms, in lower case
// :param most => 500              -- INTEGER: chunks at most
//
// returns: id STRING, text STRING
// mode: read
MATCH (c:@Chunk)
WITH @ref(c) AS id,
     reduce(t = toLower(@text(c)),
       x IN [['\r', ' '], ['\n', ' '], ['\t', ' '], ['\u00a0', ' '], ['’', '\''], ['   ', ' '], ['  ', ' ']] | replace(t, x[0], x[1])) AS text
WHERE any(term IN $terms WHERE text CONTAINS term)
RETURN id, left(text, 50000) AS text
ORDER BY id LIMIT $most
