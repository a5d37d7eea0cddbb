// expand-entities: the relations at given entities, with their ends and the chunks that they come from.
// At most so many an entity, of the first 1,000 that the store gives: a super-node costs no more than another entity. A relation
// comes from the chunks that it names itself, else from those that mention both its ends (the first 1,000 of an entity count).
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
// :param most => 100              -- INTEGER: relations an entity at most
//
// returns: at STRING, element_id STRING, start STRING, end STRING, subject STRING, predicate STRING, object STRING, description STRING, chunks LIST OF MAP
// mode: read
UNWIND $ids AS id
MATCH (e) WHERE elementId(e) = id
CALL (e) {
  MATCH (e)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  WITH DISTINCT c LIMIT 1000
  CALL (c) {
    OPTIONAL MATCH (c)-[d]-(doc)
    WHERE type(d) IN $layout.chunk_document_types AND any(l IN labels(doc) WHERE l IN $layout.document_labels)
    RETURN min(coalesce(toStringOrNull(doc[$layout.document_key]), elementId(doc))) AS document
  }
  RETURN collect({id: coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)), element_id: elementId(c), document: document}) AS mentioned
}
CALL (e) {
  MATCH (e)-[r]-(o)
  WHERE type(r) IN $layout.relation_types AND o <> e
    AND ($layout.relations_join_entities_only OR (
      any(l IN labels(o) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)))
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(o))
    AND ($layout.scope_property IS NULL OR o[$layout.scope_property] = $layout.scope_value)
  WITH r, o LIMIT 1000
  WITH r, o ORDER BY elementId(r) LIMIT $most
  RETURN r, o, startNode(r) AS a, endNode(r) AS b
}
WITH e, mentioned, r, o, a, b, [s IN CASE
  WHEN r[$layout.relation_source_key] IS NULL THEN []
  WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
  ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values] AS own
CALL (o, own) {
  WITH o, own
  WHERE size(own) = 0
  MATCH (o)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
  WITH DISTINCT c LIMIT 1000
  RETURN collect(elementId(c)) AS others
}
RETURN elementId(e) AS at, elementId(r) AS element_id, elementId(a) AS start, elementId(b) AS end,
       left(@shown(a), 300) AS subject,
       left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS predicate,
       left(@shown(b), 300) AS object,
       left(@description(r, Relation), 1000) AS description,
       CASE WHEN size(own) = 0 THEN [x IN mentioned WHERE x.element_id IN others][..50]
       ELSE [s IN own[..50] | coalesce(head([x IN mentioned WHERE x.id = s OR x.element_id = s]), {id: s, element_id: null, document: null})] END AS chunks
