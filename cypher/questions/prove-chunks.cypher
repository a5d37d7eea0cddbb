// prove-chunks: whether the graph has a chunk with text.
//
// returns: found BOOLEAN
// mode: read
RETURN EXISTS {
  MATCH (c:@Chunk)
  WHERE any(k IN @chunk_text_keys WHERE trim(toStringOrNull(c[k])) <> '')
} AS found
