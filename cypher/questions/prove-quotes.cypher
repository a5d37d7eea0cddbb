// prove-quotes: the element ids of the chunks whose texts hold all of some words, as parts of words too, whatever their case.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param terms => ['ada']         -- LIST OF STRING: words, in lower case
//
// returns: element_id STRING
// mode: read
MATCH (c)
WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
  AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
WITH c, toLower(head([k IN $layout.chunk_text_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])])) AS text
WHERE all(term IN $terms WHERE text CONTAINS term)
RETURN elementId(c) AS element_id
