// relations-by-type: how many relations between entities there are of each label, and how many of them are self-loops.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: type STRING, count INTEGER, self_loops INTEGER
// mode: read
CALL () {
  // relations join entities only: nothing has to be asked of their ends
  WITH 1 AS once WHERE $layout.relations_join_entities_only
  MATCH ()-[r]->()
  WHERE type(r) IN $layout.relation_types
  RETURN coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)) AS named, count(*) AS uses, 0 AS loops
  UNION ALL
  WITH 1 AS once WHERE $layout.relations_join_entities_only
  MATCH (s)-[r]->(s)
  WHERE type(r) IN $layout.relation_types
  RETURN coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)) AS named, 0 AS uses, count(*) AS loops
  UNION ALL
  WITH 1 AS once WHERE NOT $layout.relations_join_entities_only
  MATCH (s)-[r]->(t)
  WHERE type(r) IN $layout.relation_types
    AND any(l IN labels(s) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(s) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(s))
    AND ($layout.scope_property IS NULL OR s[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(t) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(t) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(t))
    AND ($layout.scope_property IS NULL OR t[$layout.scope_property] = $layout.scope_value)
  RETURN coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)) AS named, count(*) AS uses,
         sum(CASE WHEN s = t THEN 1 ELSE 0 END) AS loops
}
RETURN left(named, 200) AS type, sum(uses) AS count, sum(loops) AS self_loops
ORDER BY count DESC, type
