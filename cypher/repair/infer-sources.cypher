// infer-sources: gives relations without a source the chunks that both their ends have.
// Weaker evidence than the extractor's own, so that they are marked (sources_inferred). Relations that name a source by now, and those
// whose ends share no chunk, stay as they are. A placeholder that stood there is kept, in the list former_KEY.
//
// :param element_ids => ['5:...:1']      -- LIST OF STRING: the relations, as the finding lists them; leave out those that are right
//
// returns: changed INTEGER
// mode: write
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $element_ids AND none(s IN @sources(r, Relation) WHERE s <> '' AND NOT s IN @placeholder_values)
  AND @is(r, RELATION) AND @is(a, Entity) AND @is(b, Entity)
MATCH (a)-[m:@MENTION]-(c)-[n:@MENTION]-(b)
WHERE @is(c, Chunk)
WITH r, collect(DISTINCT @id(c)) AS both
WHERE size(both) > 0
WITH r, both, [s IN @sources(r, Relation) WHERE s <> ''] AS placeholders, 'former_' + @relation_source_key AS former
// writes:
FOREACH (k IN [k IN [former] WHERE size(placeholders) > 0] |
  SET r[k] = [x IN [] + coalesce(r[k], []) | toStringOrNull(x)] + placeholders)
SET r.sources_inferred = true, r[@relation_source_key] = CASE WHEN @source_separator IS NULL THEN both
  ELSE reduce(text = head(both), id IN tail(both) | text + @source_separator + id) END
// counts:
RETURN count(*) AS changed
