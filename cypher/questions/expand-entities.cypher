// expand-entities: the relations at given entities, with their ends and the chunks that they come from.
// At most so many an entity, of the first 1,000 that the store gives: a super-node costs no more than another entity. A relation
// comes from the chunks that it names itself, else from those that mention both its ends (the first 1,000 of an entity count).
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 100              -- INTEGER: relations an entity at most
//
// returns: at STRING, element_id STRING, start STRING, end STRING, subject STRING, predicate STRING, object STRING, description STRING, chunks LIST OF MAP
// mode: read
UNWIND $ids AS id
MATCH (e) WHERE elementId(e) = id
CALL (e) {
  MATCH (e)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  WITH DISTINCT c LIMIT 1000
  CALL (c) {
    OPTIONAL MATCH (c)-[d:@IN_DOCUMENT]-(doc)
    WHERE @is(doc, Document)
    RETURN min(coalesce(toStringOrNull(doc.@document_key), elementId(doc))) AS document
  }
  RETURN collect({id: @ref(c), element_id: elementId(c), document: document}) AS mentioned
}
CALL (e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND @is(o, Endpoint)
  WITH r, o LIMIT 1000
  WITH r, o ORDER BY elementId(r) LIMIT $most
  RETURN r, o, startNode(r) AS a, endNode(r) AS b
}
WITH e, mentioned, r, o, a, b, @named_sources(r, Relation) AS own
CALL (o, own) {
  WITH o, own
  WHERE size(own) = 0
  MATCH (o)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
  WITH DISTINCT c LIMIT 1000
  RETURN collect(elementId(c)) AS others
}
RETURN elementId(e) AS at, elementId(r) AS element_id, elementId(a) AS start, elementId(b) AS end,
       left(@shown(a), 300) AS subject,
       left(@label(r), 200) AS predicate,
       left(@shown(b), 300) AS object,
       left(@description(r, Relation), 1000) AS description,
       CASE WHEN size(own) = 0 THEN [x IN mentioned WHERE x.element_id IN others][..50]
       ELSE [s IN own[..50] | coalesce(head([x IN mentioned WHERE x.id = s OR x.element_id = s]), {id: s, element_id: null, document: null})] END AS chunks
