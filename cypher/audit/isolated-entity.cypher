// isolated-entity: entities with no relation to another entity.
// An isolated entity can never be reached by graph traversal. A self-loop alone does not connect.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e)
WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
WITH e, NOT EXISTS {
  MATCH (e)-[r]-(o)
  WHERE o <> e AND type(r) IN $layout.relation_types
    AND ($layout.relations_join_entities_only OR (
      any(l IN labels(o) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(o) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(o))
      AND ($layout.scope_property IS NULL OR o[$layout.scope_property] = $layout.scope_value)))
} AS hit
WITH count(*) AS total, collect(CASE WHEN hit THEN e END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS e
WITH total, count, e, count(*) AS once
WITH total, count, e, left(coalesce(@shown(e), ''), 200) AS name
ORDER BY name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(toStringOrNull(e[$layout.key_property]), name), 200), name: name,
           type: @type(e), kind: 'entity'}], why: null} END) AS sample
