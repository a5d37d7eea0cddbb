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
CALL (groups) {
  UNWIND groups AS alike
  UNWIND alike AS c
  WITH @text(c) AS text, c
  ORDER BY @ref(c), elementId(c)
  WITH text, collect(c) AS same
  WHERE size(same) > 1
  RETURN collect(same) AS found
}
CALL (found) {
  UNWIND found AS same
  WITH same, same[0] AS first
  WITH same, left(@text(first), 80) AS beginning, size(@text(first)) AS length
  ORDER BY size(same) DESC, length DESC, beginning LIMIT $sample
  RETURN collect({
    items: [c IN same[..20] | {element_id: elementId(c), key: left(@ref(c), 200), name: left(@ref(c), 200), type: null, kind: 'chunk'}],
    counts: size(same) - 1,
    why: toString(size(same)) + ' chunks hold the same ' + toString(length) + ' characters: ' + beginning}) AS sample
}
RETURN reduce(n = 0, same IN found | n + size(same) - 1) AS count, total, sample
