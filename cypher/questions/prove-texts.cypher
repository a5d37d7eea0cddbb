// prove-texts: how many chunks hold a term in their text, for many terms at once.
// Texts are compared in lower case, with line ends and double spaces as one space.
//
// :param terms => ['ada']         -- LIST OF STRING: terms, in lower case
//
// returns: term STRING, chunks INTEGER, example STRING
// mode: read
MATCH (c:@Chunk)
WITH @ref(c) AS id,
     reduce(t = toLower(@text(c)),
       x IN [['\r', ' '], ['\n', ' '], ['\t', ' '], ['\u00a0', ' '], ['’', '\''], ['   ', ' '], ['  ', ' ']] | replace(t, x[0], x[1])) AS text
UNWIND $terms AS term
WITH id, term WHERE text CONTAINS term
RETURN term, count(*) AS chunks, min(id) AS example
