// duplicate-document: documents that are in the graph twice: of one key, where one shares a text with the other or has none; or with
// the same texts under other names. Two documents of one key with other texts are left alone: a title is no identity. Short texts are no proof.
//
// :param min_characters => 100    -- INTEGER: shortest text that two documents may share by chance no more
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (d:@Document)
CALL (d) {
  MATCH (d)-[r:@IN_DOCUMENT]-(c)
  WHERE @is(c, Chunk)
  WITH DISTINCT c
  RETURN count(c) AS chunks, sum(coalesce(size(@text(c)), 0)) AS length
}
WITH d, chunks, length, toStringOrNull(d.@document_key) AS key
ORDER BY chunks DESC, key, elementId(d)
WITH collect({d: d, key: key, chunks: chunks, length: length}) AS documents
CALL (documents) {
  UNWIND documents AS one
  WITH one WHERE one.key IS NOT NULL
  WITH one.key AS key, collect(one) AS group
  WHERE size(group) > 1
  WITH key, group[0].d AS first, group[0].chunks AS most, group
  WITH key, first, most, [one IN group[1..] WHERE one.chunks = 0] AS bare, [one IN group[1..] WHERE one.chunks > 0 | one.d] AS others
  CALL (first, others) {
    UNWIND others AS other
    CALL (other) {
      MATCH (other)-[r:@IN_DOCUMENT]-(c)
      WHERE @is(c, Chunk)
      WITH c, @text(c) AS text
      WHERE size(text) >= $min_characters
      RETURN collect(text)[..20] AS texts
    }
    WITH first, other, texts
    WHERE EXISTS {
      MATCH (first)-[r:@IN_DOCUMENT]-(c)
      WHERE @is(c, Chunk)
        AND @text(c) IN texts
    }
    RETURN collect(other) AS shared
  }
  WITH key, most, [first] + shared + [one IN bare | one.d] AS same, size(shared) AS shared
  WHERE size(same) > 1
  RETURN collect({same: same, why: toString(size(same)) + ' documents have the key \'' + left(key, 100) + '\''
    + CASE WHEN shared > 0 THEN ' and share texts' WHEN most > 0 THEN ', and only one has chunks' ELSE ', and none has chunks' END}) AS by_key
}
WITH documents, by_key, reduce(gone = [], group IN by_key | gone + group.same[1..]) AS gone
CALL (documents, gone) {
  UNWIND documents AS one
  WITH one, gone WHERE one.length >= $min_characters AND NOT one.d IN gone
  WITH one.chunks AS chunks, one.length AS length, collect(one.d) AS alike
  WHERE size(alike) > 1
  UNWIND alike AS d
  CALL (d) {
    MATCH (d)-[r:@IN_DOCUMENT]-(c)
    WHERE @is(c, Chunk)
    WITH DISTINCT c
    WITH @text(c) AS text ORDER BY text
    RETURN collect(text) AS texts
  }
  WITH chunks, texts, collect(d) AS same
  WHERE size(same) > 1
  RETURN collect({same: same, why: toString(size(same)) + ' documents hold the same '
    + CASE chunks WHEN 1 THEN 'text' ELSE toString(chunks) + ' texts' END}) AS by_texts
}
WITH size(documents) AS total, by_key + by_texts AS groups
WITH total, reduce(n = 0, group IN groups | n + size(group.same) - 1) AS count, CASE WHEN isEmpty(groups) THEN [null] ELSE groups END AS groups
UNWIND groups AS group
// grouping makes new rows, that do not each hold the list of all groups
WITH total, count, group, count(*) AS once
WITH total, count, group, group.same[0] AS first
WITH total, count, group, left(@document(first), 200) AS name
ORDER BY size(group.same) DESC, name LIMIT $sample
RETURN count, total, collect(CASE WHEN group IS NOT NULL THEN {
  items: [d IN group.same[..20] | {element_id: elementId(d), key: left(@document(d), 200), name: left(@document(d), 200), type: null,
    kind: 'document'}],
  counts: size(group.same) - 1, why: group.why} END) AS sample
