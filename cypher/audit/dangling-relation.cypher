// dangling-relation: relations with an end that was never extracted as an entity.
// The end is marked `dangling`, or its name or type is one of the layout's placeholder values (LightRAG's UNKNOWN), or it is a node that
// is no entity, no document, no excluded node and no chunk with text (LlamaIndex writes text-less chunks).
// Total: relations with at least one entity.
//
// :param sample => 5                    -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
WITH [v IN @placeholder_values | toLower(v)] AS placeholders
CALL (placeholders) {
  MATCH (a)-[r]->(b)
  WHERE @is(r, RELATION)
  WITH r, a, b, placeholders,
    CASE WHEN @relations_join_entities_only THEN 'entity'
      WHEN @is(a, Entity) THEN 'entity'
      WHEN any(l IN labels(a) WHERE l IN @entity_labels OR l IN @entity_excluded_labels
        OR l IN @document_labels OR (l IN @chunk_labels AND any(k IN @chunk_text_keys WHERE a[k] IS NOT NULL)))
        THEN 'other' ELSE 'missing' END AS from_is,
    CASE WHEN @relations_join_entities_only THEN 'entity'
      WHEN @is(b, Entity) THEN 'entity'
      WHEN any(l IN labels(b) WHERE l IN @entity_labels OR l IN @entity_excluded_labels
        OR l IN @document_labels OR (l IN @chunk_labels AND any(k IN @chunk_text_keys WHERE b[k] IS NOT NULL)))
        THEN 'other' ELSE 'missing' END AS to_is
  WHERE (from_is = 'entity' AND to_is <> 'other') OR (to_is = 'entity' AND from_is <> 'other')
  WITH r, CASE WHEN from_is = 'missing' OR a.dangling = true
      OR toLower(@type(a))
        IN placeholders
      OR toLower(trim(@shown(a))) IN placeholders
      THEN a END AS from_gone,
    CASE WHEN to_is = 'missing' OR b.dangling = true
      OR toLower(@type(b))
        IN placeholders
      OR toLower(trim(@shown(b))) IN placeholders
      THEN b END AS to_gone
  WITH r, [x IN [from_gone, to_gone] WHERE x IS NOT NULL] AS gone
  RETURN count(*) AS total, collect(CASE WHEN size(gone) > 0 THEN {r: r, gone: gone} END) AS hits
}
CALL (hits) {
  UNWIND hits AS hit
  UNWIND hit.gone AS lost
  RETURN count(DISTINCT lost) AS ends
}
WITH total, size(hits) AS count, ends, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, ends, hit, count(*) AS once
WITH total, count, hit.r AS r, hit.gone AS gone, startNode(hit.r) AS a, endNode(hit.r) AS b, hit.gone[0] AS lost, ends
WITH total, count, r, @label(r) AS label,
  @display(a) AS from_name,
  @display(b) AS to_name,
  head([e IN gone | @display(e)]) AS missing,
  COUNT { (lost)--() } AS links, ends
WITH total, count, r, label, missing, links, ends,
  left(from_name, 200) + ' -[' + label + ']-> ' + left(to_name, 200) AS shown
ORDER BY links DESC, missing, shown, elementId(r) LIMIT $sample
RETURN count, total, collect(CASE WHEN r IS NOT NULL THEN {
  items: [{element_id: elementId(r), key: shown, name: shown, type: label, kind: 'relation'}],
  why: 'missing end: ' + left(missing, 200) + ' (' + toString(ends)
    + ' missing ' + CASE ends WHEN 1 THEN 'end' ELSE 'ends' END + ' in all)'
} END) AS sample
