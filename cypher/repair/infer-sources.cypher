// infer-sources: gives relations without a source the chunks that both their ends have.
// Weaker evidence than the extractor's own, so that they are marked (sources_inferred). Relations that name a source by now, and those
// whose ends share no chunk, stay as they are.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
//
// returns: changed INTEGER
// mode: write
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $element_ids AND none(s IN @sources(r, Relation) WHERE s <> '' AND NOT s IN $layout.placeholder_values)
  AND @is(r, Relation)
MATCH (a)-[m]-(c)-[n]-(b)
WHERE type(m) IN $layout.mention_types AND type(n) IN $layout.mention_types
  AND @is(c, Chunk)
WITH r, collect(DISTINCT head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])])) AS both
WHERE size(both) > 0
SET r.sources_inferred = true, r[$layout.relation_source_key] = CASE WHEN $layout.source_separator IS NULL THEN both
  ELSE reduce(text = head(both), id IN tail(both) | text + $layout.source_separator + id) END
RETURN count(*) AS changed
