// empty-chunk: chunks whose text is blank, or that have none, in a graph where at least half of the chunks have a text.
// A chunk node without a text property counts only where it is linked to a document or an entity: others are stand-ins (LlamaIndex).
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (c:@Chunk)
WHERE NOT coalesce(c.dangling = true, false)
WITH c, [k IN @chunk_text_keys WHERE c[k] IS NOT NULL | trim(coalesce(toStringOrNull(c[k]), '?'))] AS texts
WITH c, texts, any(t IN texts WHERE t <> '') AS filled
WITH c, texts, filled, NOT filled AND (size(texts) > 0 OR EXISTS {
  MATCH (c)-[r:@IN_DOCUMENT]-(d)
  WHERE @is(d, Document)
} OR EXISTS {
  MATCH (c)-[m:@MENTION]-(e)
  WHERE @is(e, Entity)
}) AS hit
WHERE filled OR hit
WITH count(*) AS chunks, sum(CASE WHEN filled THEN 1 ELSE 0 END) AS filled,
     collect(CASE WHEN hit THEN {c: c, why: CASE WHEN size(texts) > 0 THEN 'its text is blank' ELSE 'it has no text' END} END) AS hits
WITH CASE WHEN 2 * filled >= chunks THEN chunks ELSE 0 END AS total, CASE WHEN 2 * filled >= chunks THEN hits ELSE [] END AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit.c AS c, hit.why AS why
WITH total, count, c, why, left(@ref(c), 200) AS id
ORDER BY id, elementId(c) LIMIT $sample
RETURN count, total, collect(CASE WHEN c IS NOT NULL THEN {
  items: [{element_id: elementId(c), key: id, name: id, type: null, kind: 'chunk'}], why: why} END) AS sample
