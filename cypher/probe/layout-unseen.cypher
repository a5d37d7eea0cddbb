// layout-unseen: the labels of the nodes that a layout does not see, most frequent first.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param sample => 5              -- INTEGER: label sets to return
//
// returns: labels LIST OF STRING, count INTEGER
// mode: read
MATCH (e)
WHERE none(l IN labels(e) WHERE l IN $layout.chunk_labels + $layout.document_labels + $layout.entity_excluded_labels)
  AND (none(l IN labels(e) WHERE l IN $layout.entity_labels)
    OR ($layout.scope_label IS NOT NULL AND NOT $layout.scope_label IN labels(e))
    OR ($layout.scope_property IS NOT NULL AND coalesce(e[$layout.scope_property] <> $layout.scope_value, true)))
RETURN labels(e) AS labels, count(*) AS count
ORDER BY count DESC, labels
LIMIT $sample
