// layout-unseen: the labels of the nodes that a layout does not see, most frequent first.
//
// :param sample => 5              -- INTEGER: label sets to return
//
// returns: labels LIST OF STRING, count INTEGER
// mode: read
MATCH (e)
WHERE none(l IN labels(e) WHERE l IN @chunk_labels + @document_labels + @entity_excluded_labels)
  AND (none(l IN labels(e) WHERE l IN @entity_labels)
    OR (@scope_label IS NOT NULL AND NOT @scope_label IN labels(e))
    OR (@scope_property IS NOT NULL AND coalesce(e.@scope_property <> @scope_value, true)))
RETURN labels(e) AS labels, count(*) AS count
ORDER BY count DESC, labels
LIMIT $sample
