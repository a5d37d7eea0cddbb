// structure-relations: what given relations say, and the chunks that they come from.
// Without sources of its own a relation comes from the chunks that mention both its ends; they are looked for from the end with fewer relations.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param ids => ['5:x:1']         -- LIST OF STRING: element ids of relations
// :param most => 50               -- INTEGER: chunks a relation at most
//
// returns: element_id STRING, source STRING, target STRING, predicate STRING, type STRING, description STRING, chunks LIST OF STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $ids
WITH a, r, b, [s IN CASE
  WHEN r[$layout.relation_source_key] IS NULL THEN []
  WHEN r[$layout.relation_source_key] IS :: LIST<ANY> THEN [x IN r[$layout.relation_source_key] | trim(toStringOrNull(x))]
  WHEN $layout.source_separator IS NULL THEN [trim(toStringOrNull(r[$layout.relation_source_key]))]
  ELSE [x IN split(toStringOrNull(r[$layout.relation_source_key]), $layout.source_separator) | trim(x)] END WHERE s <> '' AND NOT s IN $layout.placeholder_values] AS own
WITH a, r, b, own, COUNT { (a)--() } <= COUNT { (b)--() } AS first
WITH a, r, b, own, CASE WHEN first THEN a ELSE b END AS near, CASE WHEN first THEN b ELSE a END AS far
CALL (near, far, own) {
  WITH near, far, own
  WHERE size(own) = 0
  MATCH (near)-[m]-(c)
  WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
    AND EXISTS { MATCH (c)-[n]-(far) WHERE type(n) IN $layout.mention_types }
  WITH DISTINCT coalesce(head([k IN $layout.chunk_id_keys WHERE c[k] IS NOT NULL | toStringOrNull(c[k])]), elementId(c)) AS id
  ORDER BY id
  LIMIT $most
  RETURN collect(id) AS shared
}
RETURN elementId(r) AS element_id, elementId(a) AS source, elementId(b) AS target,
       left(coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)), 200) AS predicate, type(r) AS type,
       left(@description(r, Relation), 2000) AS description,
       CASE WHEN size(own) = 0 THEN shared ELSE own[..$most] END AS chunks
