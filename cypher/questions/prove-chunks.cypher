// prove-chunks: whether the graph has a chunk with text.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: found BOOLEAN
// mode: read
RETURN EXISTS {
  MATCH (c)
  WHERE any(l IN labels(c) WHERE l IN $layout.chunk_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
    AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
    AND any(k IN $layout.chunk_text_keys WHERE trim(toStringOrNull(c[k])) <> '')
} AS found
