// relations-at: the relations at given entities that stand at given places of a fixed order (by predicate, type, other end, direction).
// The order depends on names, not on ids, so that a place means the same relation after a rebuild. Costs as much as the entities have
// relations, however many places are asked for.
//
// :param asked => [{id: '4:x:1', places: [0]}] -- LIST OF MAP: element ids of entities, each once, with places from 0; places null = all
//
// returns: element_id STRING, place INTEGER, relation STRING, source STRING, target STRING
// mode: read
UNWIND $asked AS ask
MATCH (e)
WHERE elementId(e) = ask.id
CALL (e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e
    AND trim(coalesce(@shown(o), '')) <> ''
    AND @is(o, Endpoint)
  WITH e, r, o
  ORDER BY left(toStringOrNull(r.@relation_label_key), 200), type(r), left(@shown(o), 300),
           left(@key(o), 300), startNode(r) = e, left(toStringOrNull(r.@relation_description_key), 300), elementId(r)
  RETURN collect(r) AS around
}
UNWIND coalesce(ask.places, range(0, size(around) - 1)) AS place
WITH e, place, around[place] AS r
WHERE r IS NOT NULL
RETURN elementId(e) AS element_id, place, elementId(r) AS relation, elementId(startNode(r)) AS source, elementId(endNode(r)) AS target
