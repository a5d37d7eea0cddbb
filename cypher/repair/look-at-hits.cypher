// look-at-hits: the nodes and relations of a finding, by their element ids, as Neo4j Browser draws them: a relation with its ends.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the hits, as the finding lists them
//
// returns: hit NODE OR PATH
// mode: read
MATCH hit = (n)
WHERE elementId(n) IN $element_ids
RETURN hit
UNION ALL
MATCH hit = ()-[r]->()
WHERE elementId(r) IN $element_ids
RETURN hit
