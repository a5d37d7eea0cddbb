// relations-joining: the relations that join each of the given pairs of entities, in either direction, in a fixed order.
//
// :param pairs => [['4:x:1', '4:x:2']] -- LIST OF LIST: pairs of element ids of entities
//
// returns: pair INTEGER, relations LIST OF LIST
// mode: read
UNWIND range(0, size($pairs) - 1) AS pair
MATCH (a) WHERE elementId(a) = $pairs[pair][0]
MATCH (b) WHERE elementId(b) = $pairs[pair][1]
CALL (a, b) {
  MATCH (a)-[r:@RELATION]-(b)
  WITH a, r
  ORDER BY left(toStringOrNull(r.@relation_label_key), 200), type(r), startNode(r) = a, left(toStringOrNull(r.@relation_description_key), 300), elementId(r)
  RETURN collect([elementId(r), elementId(startNode(r)), elementId(endNode(r))]) AS relations
}
RETURN pair, relations
