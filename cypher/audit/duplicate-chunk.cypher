// duplicate-chunk: chunks that hold the same text as another one. Short texts, which repeat by chance, are left out.
// Chunks meet by length and by the text's beginning, middle and end; whole texts are compared only where these agree.
//
// :param min_characters => 100    -- INTEGER: shortest text that counts
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (c:@Chunk)
WITH c, @text(c) AS text
WHERE size(text) >= $min_characters
WITH size(text) AS length, left(text, 40) + substring(text, size(text) / 2, 40) + right(text, 40) AS parts, collect(c) AS alike
WITH sum(size(alike)) AS total, collect(CASE WHEN size(alike) > 1 THEN alike END) AS groups
WITH total, CASE WHEN isEmpty(groups) THEN [[null]] ELSE groups END AS groups
UNWIND groups AS alike
UNWIND alike AS c
// grouping makes new rows, that do not each hold the list of all groups
WITH total, c, count(*) AS once
WITH total, @text(c) AS text, collect(c) AS same
WITH total, collect(CASE WHEN size(same) > 1 THEN same END) AS found
WITH total, reduce(n = 0, same IN found | n + size(same) - 1) AS count, CASE WHEN isEmpty(found) THEN [[]] ELSE found END AS found
UNWIND found AS same
WITH total, count, same, count(*) AS once
WITH total, count, same, same[0] AS first
WITH total, count, same, left(@text(first), 80) AS beginning, size(@text(first)) AS length
ORDER BY size(same) DESC, length DESC, beginning LIMIT $sample
UNWIND CASE WHEN isEmpty(same) THEN [null] ELSE same[..20] END AS c
WITH total, count, same, beginning, length, c, left(@ref(c), 200) AS id
ORDER BY size(same) DESC, length DESC, beginning, id, elementId(c)
WITH total, count, size(same) AS size, length, beginning, collect(CASE WHEN c IS NOT NULL THEN
  {element_id: elementId(c), key: id, name: id, type: null, kind: 'chunk'} END) AS items
ORDER BY size DESC, length DESC, beginning
RETURN count, total, collect(CASE WHEN size(items) > 0 THEN {items: items, counts: size - 1,
  why: toString(size) + ' chunks hold the same ' + toString(length) + ' characters: ' + beginning} END) AS sample
