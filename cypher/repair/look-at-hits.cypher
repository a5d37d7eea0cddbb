// look-at-hits: the nodes and relations of a finding, by their element ids.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the hits, as the finding lists them
//
// returns: hit NODE
// mode: read
CALL () {
  MATCH (n)
  WHERE elementId(n) IN $element_ids
  RETURN n AS hit
  UNION ALL
  MATCH ()-[r]->()
  WHERE elementId(r) IN $element_ids
  RETURN r AS hit
}
RETURN hit
