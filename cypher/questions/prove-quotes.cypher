// prove-quotes: the element ids of the chunks whose texts hold all of some words, as parts of words too, whatever their case.
//
// :param terms => ['ada']         -- LIST OF STRING: words, in lower case
//
// returns: element_id STRING
// mode: read
MATCH (c:@Chunk)
WITH c, toLower(@text(c)) AS text
WHERE all(term IN $terms WHERE text CONTAINS term)
RETURN elementId(c) AS element_id
