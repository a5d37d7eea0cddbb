// relations-at: the relations at given entities that stand at given places of a fixed order (by predicate, type, other end, direction).
// The order depends on names, not on ids, so that a place means the same relation after a rebuild. Costs as much as the entities have
// relations, however many places are asked for.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param asked => [{id: '4:x:1', places: [0]}] -- LIST OF MAP: element ids of entities, each once, with places from 0; places null = all
//
// returns: element_id STRING, place INTEGER, relation STRING, source STRING, target STRING
// mode: read
UNWIND $asked AS ask
MATCH (e)
WHERE elementId(e) = ask.id
CALL (e) {
  MATCH (e)-[r]-(o)
  WHERE type(r) IN $layout.relation_types AND o <> e
    AND trim(coalesce(@shown(o), '')) <> ''
    AND ($layout.relations_join_entities_only OR (
      any(l IN labels(o) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)))
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(o))
    AND ($layout.scope_property IS NULL OR o[$layout.scope_property] = $layout.scope_value)
  WITH e, r, o
  ORDER BY left(toStringOrNull(r[$layout.relation_label_key]), 200), type(r), left(@shown(o), 300),
           left(toStringOrNull(o[$layout.key_property]), 300), startNode(r) = e, left(toStringOrNull(r[$layout.relation_description_key]), 300), elementId(r)
  RETURN collect(r) AS around
}
UNWIND coalesce(ask.places, range(0, size(around) - 1)) AS place
WITH e, place, around[place] AS r
WHERE r IS NOT NULL
RETURN elementId(e) AS element_id, place, elementId(r) AS relation, elementId(startNode(r)) AS source, elementId(endNode(r)) AS target
