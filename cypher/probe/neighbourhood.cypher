// neighbourhood: given nodes and relations with what lies around them, for a picture of at most `most` nodes.
// Neighbours are taken from each given node by turns: entities first, those that several of them share before others, then some texts. Of a
// node with very many relations the first `looked_at` that the store gives are looked at, so that a super node costs no more than others;
// and nothing is sought between two nodes that both have so many.
//
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of nodes and relations, at most half of `most`
// :param most => 25               -- INTEGER: nodes at most
// :param looked_at => 1000        -- INTEGER: relations of a node that are looked at
//
// returns: nodes LIST OF MAP, relations LIST OF MAP, more INTEGER, at_least BOOLEAN
// mode: read
CALL () {
  UNWIND range(0, size($ids) - 1) AS place
  MATCH (n)
  WHERE elementId(n) = $ids[place]
  RETURN place, [n] AS ends, null AS r
  UNION ALL
  UNWIND range(0, size($ids) - 1) AS place
  MATCH (a)-[r]->(b)
  WHERE elementId(r) = $ids[place]
  RETURN place, [a, b] AS ends, r
}
WITH place, ends, r ORDER BY place
WITH collect(ends) AS ends, collect(r) AS hits
WITH hits, reduce(flat = [], pair IN ends | flat + pair) AS flat
WITH hits, reduce(given = [], n IN flat | CASE WHEN n IN given THEN given ELSE given + [n] END) AS given
CALL (given) {
  UNWIND range(0, size(given) - 1) AS at
  WITH given, at, given[at] AS c
  CALL (c) {
    MATCH (c)-[r]-(o)
    WITH r, o LIMIT $looked_at
    WITH r, o, CASE
      WHEN @is(o, Entity) THEN 'entity'
      WHEN @is(o, Chunk) THEN 'chunk'
      WHEN @is(o, Document) THEN 'document' END AS role
    WHERE (role = 'entity' AND (@is(r, RELATION) OR @is(r, MENTION)))
      OR (role IN ['chunk', 'document'] AND (@is(r, MENTION) OR @is(r, IN_DOCUMENT)))
    RETURN o, role, collect(r)[..3] AS seen
  }
  WITH given, at, o, role, seen
  WHERE NOT o IN given
  WITH o, role, collect(at) AS at, collect(seen) AS seen
  WITH o, role, at, seen
  ORDER BY size(at) DESC, left(coalesce(@shown(o), ''), 100), elementId(o)
  WITH collect({o: o, role: role, at: at, seen: seen}) AS around
  RETURN around
}
CALL (given, around) {
  UNWIND range(0, size(given) - 1) AS at
  WITH [x IN around WHERE at IN x.at AND x.role = 'entity'][..$most] + [x IN around WHERE at IN x.at AND x.role <> 'entity'][..4] AS mine, at
  UNWIND range(0, size(mine) - 1) AS turn
  WITH mine[turn] AS one, min(turn) AS turn, min(at) AS at
  ORDER BY turn, at
  LIMIT $most
  RETURN collect(one) AS taken
}
WITH hits, given, size(around) AS around, taken[..CASE WHEN size(given) < $most THEN $most - size(given) ELSE 0 END] AS taken
WITH hits, given, around - size(taken) AS more, given + [x IN taken | x.o] AS nodes,
     reduce(seen = hits, x IN taken | reduce(more = seen, some IN x.seen | more + some)) AS seen
CALL (nodes, given) {
  // from the ends with few relations only: where both ends are known, a planner may look through all relations of the other one
  UNWIND nodes AS a
  WITH a, nodes, given
  WHERE COUNT { (a)--() } <= $looked_at
  MATCH (a)-[r]-(b)
  WHERE b IN nodes
    AND (@is(r, RELATION)
      OR ((a IN given OR b IN given) AND (@is(r, MENTION) OR @is(r, IN_DOCUMENT))))
  RETURN collect(DISTINCT r)[..200] AS between
}
CALL (nodes, given, hits, seen, between) {
  UNWIND seen + between AS r
  WITH DISTINCT r, nodes, given, hits
  WITH r, given, hits
  ORDER BY r IN hits DESC, startNode(r) IN given OR endNode(r) IN given DESC, @label(r), elementId(r)
  LIMIT 60
  RETURN collect({element_id: elementId(r), start: elementId(startNode(r)), end: elementId(endNode(r)), type: left(@label(r), 100),
                  hit: r IN hits}) AS relations
}
RETURN [n IN nodes | {
         element_id: elementId(n), hit: elementId(n) IN $ids,
         name: left(coalesce(@shown(n), @id(n),
                             toStringOrNull(n.@document_key), ''), 1000),
         type: left(@type(n), 100),
         kind: CASE
           WHEN @is(n, Entity) THEN 'entity'
           WHEN @is(n, Chunk) THEN 'chunk'
           WHEN @is(n, Document) THEN 'document' ELSE 'other' END}] AS nodes,
       relations, more, any(n IN given WHERE COUNT { (n)--() } > $looked_at) AS at_least
