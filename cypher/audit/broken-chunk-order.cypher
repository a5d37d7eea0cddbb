// broken-chunk-order: documents whose chunks are in no single order: places taken twice or missing, a chunk that two follow, two chains,
// a circle. A kind of fault that most documents have is how the writer counts, and is told only of those that it hardly touches.
// Chunks that several documents share (LLM Graph Builder keeps equal texts once) have one place for all: there places are not looked at.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (d:@Document)
CALL (d) {
  MATCH (d)-[r:@IN_DOCUMENT]-(c)
  WHERE @is(c, Chunk)
  WITH DISTINCT d, c
  WITH d, c, toIntegerOrNull(c.@chunk_index_key) AS place, EXISTS {
    MATCH (c)-[r:@IN_DOCUMENT]-(o)
    WHERE o <> d AND @is(o, Document)
  } AS shared, COLLECT {
    MATCH (c)-[n:@NEXT_CHUNK]->(o)
    WHERE EXISTS {
      MATCH (o)-[r:@IN_DOCUMENT]-(d)
    }
    RETURN DISTINCT o
  } AS after, COUNT {
    MATCH (c)<-[n:@NEXT_CHUNK]-(o)
    WHERE EXISTS {
      MATCH (o)-[r:@IN_DOCUMENT]-(d)
    }
    RETURN DISTINCT o
  } AS before
  WITH collect(c) AS chunks, collect(place) AS places, max(CASE WHEN shared THEN 1 ELSE 0 END) AS shared,
       sum(size(after)) AS links, sum(CASE WHEN before = 0 THEN 1 ELSE 0 END) AS starts,
       collect(CASE WHEN size(after) > 1 THEN c END) AS forks, collect(CASE WHEN before > 1 THEN c END) AS meets,
       collect(CASE WHEN any(o IN after WHERE o = c OR toIntegerOrNull(o.@chunk_index_key) < place) THEN c END) AS backs
  RETURN size(chunks) AS size, CASE WHEN shared = 0 AND size(places) = size(chunks) THEN places ELSE [] END AS places,
         links, starts, forks, meets, CASE shared WHEN 0 THEN backs ELSE [] END AS backs
}
WITH d, size, places, links, starts, forks, meets, backs
WHERE size > 1 AND (links > 0 OR size(places) > 0)
CALL (places) {
  UNWIND places AS place
  WITH place, count(*) AS times
  ORDER BY place
  RETURN collect(place) AS distinct_, collect(CASE WHEN times > 1 THEN place END) AS twice
}
WITH d, size, links, starts, forks, meets, backs, twice, distinct_,
     CASE WHEN size(distinct_) > 0 THEN last(distinct_) - distinct_[0] + 1 - size(distinct_) ELSE 0 END AS missing,
     forks[0] AS fork, meets[0] AS meet, backs[0] AS back
WITH d, [
  {kind: 'twice', touched: size(twice), of: size},
  {kind: 'missing', touched: missing, of: size + missing},
  {kind: 'fork', touched: size(forks) + size(meets), of: size},
  {kind: 'back', touched: CASE WHEN links > 0 AND starts = 0 THEN 1 ELSE size(backs) END, of: size},
  {kind: 'starts', touched: CASE WHEN links > 0 THEN starts - 1 ELSE 0 END, of: 0}] AS faults,
  {twice: 'place ' + toString(twice[0]) + ' is taken more than once',
   missing: toString(missing) + CASE missing WHEN 1 THEN ' place is' ELSE ' places are' END + ' missing, the first behind '
     + toString(head([i IN range(0, size(distinct_) - 2) WHERE distinct_[i + 1] > distinct_[i] + 1 | distinct_[i]])),
   fork: CASE WHEN size(forks) > 0 THEN 'two chunks follow ' + left(@ref(fork), 60) ELSE left(@ref(meet), 60) + ' follows two chunks' END,
   back: CASE WHEN links > 0 AND starts = 0 THEN 'the chain has no beginning' ELSE 'the chain goes back behind ' + left(@ref(back), 60) END,
   starts: 'there are ' + toString(starts) + ' chains'} AS texts
WITH collect({d: d, faults: faults, texts: texts}) AS documents
WITH documents, [kind IN ['twice', 'missing', 'fork', 'back', 'starts']
  WHERE 2 * size([one IN documents WHERE any(f IN one.faults WHERE f.kind = kind AND f.touched > 0)]) > size(documents)] AS habits
WITH documents, [one IN documents | {d: one.d, why: [f IN one.faults
  WHERE f.touched > 0 AND (NOT f.kind IN habits OR 5 * f.touched <= f.of) | one.texts[f.kind]]}] AS told
WITH size(documents) AS total, [one IN told WHERE size(one.why) > 0] AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit.d AS d, hit.why AS why
WITH total, count, d, why, left(@document(d), 200) AS name
ORDER BY size(why) DESC, name, elementId(d) LIMIT $sample
RETURN count, total, collect(CASE WHEN d IS NOT NULL THEN {
  items: [{element_id: elementId(d), key: name, name: name, type: null, kind: 'document'}],
  why: reduce(said = why[0], more IN why[1..] | said + '; ' + more)} END) AS sample
