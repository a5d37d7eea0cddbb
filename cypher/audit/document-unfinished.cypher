// document-unfinished: documents whose extraction did not come to its end: by their state, or by fewer chunks done than there are.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (d:@Document)
WITH d, CASE WHEN size(@document_done_values) > 0 THEN toStringOrNull(d.@document_status_key) END AS state,
     toIntegerOrNull(d.@document_total_key) AS chunks, toIntegerOrNull(d.@document_processed_key) AS done
WHERE state IS NOT NULL OR (chunks IS NOT NULL AND done IS NOT NULL)
WITH d, state, chunks, done, state IS NOT NULL AND NOT toLower(trim(state)) IN [v IN @document_done_values | toLower(v)] AS open,
     coalesce(done < chunks, false) AS partly
WITH count(*) AS total, collect(CASE WHEN open OR partly THEN {d: d, why:
  CASE WHEN state IS NULL THEN '' ELSE 'its state is \'' + left(state, 50) + '\'' END
  + CASE WHEN state IS NOT NULL AND partly THEN CASE WHEN open THEN ', and ' ELSE ', but ' END ELSE '' END
  + CASE WHEN partly THEN toString(done) + ' of ' + toString(chunks) + ' chunks are done' ELSE '' END} END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit.d AS d, hit.why AS why
WITH total, count, d, why, left(@document(d), 200) AS name
ORDER BY name, elementId(d) LIMIT $sample
RETURN count, total, collect(CASE WHEN d IS NOT NULL THEN {
  items: [{element_id: elementId(d), key: name, name: name, type: null, kind: 'document'}], why: why} END) AS sample
