// document-without-chunks: documents that no chunk is linked to, in a graph where at least half of the documents have chunks.
// Documents to which entities are linked, and those whose extraction is not at its end (document-unfinished), are left out.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (d:@Document)
WITH d, EXISTS {
  MATCH (d)-[r:@IN_DOCUMENT]-(c)
  WHERE @is(c, Chunk)
} AS used, CASE WHEN size(@document_done_values) > 0 THEN toStringOrNull(d.@document_status_key) END AS state
WITH count(*) AS documents, sum(CASE WHEN used THEN 1 ELSE 0 END) AS used, collect(CASE
  WHEN NOT used AND (state IS NULL OR toLower(trim(state)) IN [v IN @document_done_values | toLower(v)]) AND NOT EXISTS {
    MATCH (d)-[m:@MENTION]-(e)
    WHERE @is(e, Entity)
  } THEN d END) AS hits
WITH CASE WHEN 2 * used >= documents THEN documents ELSE 0 END AS total, CASE WHEN 2 * used >= documents THEN hits ELSE [] END AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS d
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, d, count(*) AS once
WITH total, count, d, left(@document(d), 200) AS name
ORDER BY name, elementId(d) LIMIT $sample
RETURN count, total, collect(CASE WHEN d IS NOT NULL THEN {
  items: [{element_id: elementId(d), key: name, name: name, type: null, kind: 'document'}], why: null} END) AS sample
