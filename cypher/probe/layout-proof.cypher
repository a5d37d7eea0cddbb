// layout-proof: what speaks for it that nodes of some labels are texts or a writer's own: their texts, and what joins them to others.
// Looks at the first nodes of each label. `kin`: labels that belong to the same structure.
//
// :param rows => [{label: 'Chunk', kin: ['Chunk', 'Document']}]         -- LIST OF MAP: the labels, with their kin
// :param text_keys => ['text']                                          -- LIST OF STRING: properties that hold texts
// :param mention_types => ['MENTIONS']                                  -- LIST OF STRING: types that join texts and what they mention
// :param place_types => ['PART_OF']                                     -- LIST OF STRING: types that join chunks and documents
// :param chunk_labels => ['Chunk']                                      -- LIST OF STRING: labels of chunks
// :param sample => 200                                                  -- INTEGER: nodes to look at, of each label
//
// returns: label STRING, looked_at INTEGER, texts INTEGER, mentioning INTEGER, placed INTEGER, tied INTEGER
// mode: read
UNWIND $rows AS row
CALL (row) {
  MATCH (n)
  WHERE row.label IN labels(n)
  WITH n LIMIT $sample
  RETURN count(*) AS looked_at,
    count(CASE WHEN any(k IN $text_keys WHERE n[k] IS :: STRING NOT NULL AND trim(n[k]) <> '') THEN 1 END) AS texts,
    count(CASE WHEN EXISTS { MATCH (n)-[m]-(o) WHERE type(m) IN $mention_types AND none(l IN labels(o) WHERE l IN row.kin) } THEN 1 END) AS mentioning,
    count(CASE WHEN EXISTS { MATCH (n)-[d]-(c) WHERE type(d) IN $place_types AND any(l IN labels(c) WHERE l IN $chunk_labels) } THEN 1 END) AS placed,
    count(CASE WHEN EXISTS { MATCH (n)-[r]-(o) WHERE NOT type(r) IN $mention_types + $place_types AND none(l IN labels(o) WHERE l IN row.kin) } THEN 1 END) AS tied
}
RETURN row.label AS label, looked_at, texts, mentioning, placed, tied
