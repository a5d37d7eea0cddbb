// chunk-without-document: chunks that are linked to no document, in a graph where at least half of the chunks are.
// Where chunks keep their texts, nodes without one are stand-ins and are left out, as are chunks that an importer had to make up (dangling).
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (c:@Chunk)
WHERE NOT coalesce(c.dangling = true, false) AND (size(@chunk_text_keys) = 0 OR any(k IN @chunk_text_keys WHERE c[k] IS NOT NULL))
WITH c, EXISTS {
  MATCH (c)-[r:@IN_DOCUMENT]-(d)
  WHERE @is(d, Document)
} AS placed
WITH count(*) AS chunks, sum(CASE WHEN placed THEN 1 ELSE 0 END) AS placed, collect(CASE WHEN NOT placed THEN c END) AS hits
WITH CASE WHEN 2 * placed >= chunks THEN chunks ELSE 0 END AS total, CASE WHEN 2 * placed >= chunks THEN hits ELSE [] END AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS c
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, c, count(*) AS once
WITH total, count, c, left(@ref(c), 200) AS id
ORDER BY id, elementId(c) LIMIT $sample
RETURN count, total, collect(CASE WHEN c IS NOT NULL THEN {
  items: [{element_id: elementId(c), key: id, name: id, type: null, kind: 'chunk'}],
  why: 'it begins: ' + left(coalesce(@text(c), ''), 80)} END) AS sample
