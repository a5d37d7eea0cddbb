// structure-relations: what given relations say, and the chunks that they come from.
// Without sources of its own a relation comes from the chunks that mention both its ends; they are looked for from the end with fewer relations.
//
// :param ids => ['5:x:1']         -- LIST OF STRING: element ids of relations
// :param most => 50               -- INTEGER: chunks a relation at most
//
// returns: element_id STRING, source STRING, target STRING, predicate STRING, type STRING, description STRING, chunks LIST OF STRING
// mode: read
MATCH (a)-[r]->(b)
WHERE elementId(r) IN $ids
WITH a, r, b, @named_sources(r, Relation) AS own
WITH a, r, b, own, COUNT { (a)--() } <= COUNT { (b)--() } AS first
WITH a, r, b, own, CASE WHEN first THEN a ELSE b END AS near, CASE WHEN first THEN b ELSE a END AS far
CALL (near, far, own) {
  WITH near, far, own
  WHERE size(own) = 0
  MATCH (near)-[m:@MENTION]-(c)
  WHERE @is(c, Chunk)
    AND EXISTS { MATCH (c)-[n:@MENTION]-(far) }
  WITH DISTINCT @ref(c) AS id
  ORDER BY id
  LIMIT $most
  RETURN collect(id) AS shared
}
RETURN elementId(r) AS element_id, elementId(a) AS source, elementId(b) AS target,
       left(@label(r), 200) AS predicate, type(r) AS type,
       left(@description(r, Relation), 2000) AS description,
       CASE WHEN size(own) = 0 THEN shared ELSE own[..$most] END AS chunks
