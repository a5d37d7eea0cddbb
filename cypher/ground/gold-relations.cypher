// gold-relations: which of the given pairs of entities are joined by a relation, in which direction, under which names.
//
// :param pairs => [['4:x:1', '4:x:2']] -- LIST: element ids of both entities
//
// returns: a STRING, b STRING, forward BOOLEAN, element_id STRING, type STRING, labels LIST OF STRING, descriptions LIST OF STRING
// mode: read
UNWIND $pairs AS pair
MATCH (a) WHERE elementId(a) = pair[0]
MATCH (b) WHERE elementId(b) = pair[1]
MATCH (a)-[r:@RELATION]-(b)
WITH pair, type(r) AS type, elementId(startNode(r)) = pair[0] AS forward, min(elementId(r)) AS element_id,
     collect(DISTINCT left(toStringOrNull(r.@relation_label_key), 300))[..50] AS labels,
     collect(DISTINCT left(@description(r, Relation), 2000))[..20] AS descriptions
RETURN pair[0] AS a, pair[1] AS b, forward, element_id, type, labels, descriptions
