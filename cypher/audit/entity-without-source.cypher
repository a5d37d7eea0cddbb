// entity-without-source: entities that no chunk mentions, that are linked to no document, and that name no source.
// Without a source nobody can check the entity. Ends of relations that were never extracted (dangling) are left to dangling-relation.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE NOT coalesce(e.dangling = true, false)
WITH e, NOT EXISTS {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
} AND NOT (@entity_source_key IS NOT NULL AND size(@named_sources(e, Entity)) > 0) AND NOT EXISTS {
  MATCH (e)--(d)
  WHERE size(@document_labels) > 0 AND @is(d, Document)
} AS hit
WITH count(*) AS total, collect(CASE WHEN hit THEN e END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS e
WITH total, count, e, count(*) AS once
WITH total, count, e, @display(e) AS name,
     COUNT { (e)-[r:@RELATION]-() WHERE true } AS degree
ORDER BY degree DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name), 200),
    name: left(name, 200), type: @type(e), kind: 'entity'}],
  why: toString(degree) + ' relations'} END) AS sample
