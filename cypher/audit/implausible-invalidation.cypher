// implausible-invalidation: retired relations whose successor has nothing to do with them.
// A fact that contradicts an older one ends the older one's validity at its own start. So the successor is a relation that starts
// at the very instant at which the retired one ends. It is plausible if it joins the same two entities, or shares one end and the
// relation's name. A hit has a successor, and none is plausible.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a)-[r]->(b)
WHERE r[$layout.valid_to_key] IS NOT NULL AND ($layout.expired_key IS NULL OR r[$layout.expired_key] IS NOT NULL)
  AND type(r) IN $layout.relation_types
  AND ($layout.relations_join_entities_only OR (
    any(l IN labels(a) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
    AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(b) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
    AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
WITH collect({r: r, at: toStringOrNull(r[$layout.valid_to_key])}) AS retired
CALL (retired) { UNWIND retired AS x RETURN collect(DISTINCT x.at) AS instants }
CALL (instants) {
  MATCH (a)-[n]->(b)
  WHERE n[$layout.valid_from_key] IS NOT NULL
    AND type(n) IN $layout.relation_types
    AND ($layout.relations_join_entities_only OR (
      any(l IN labels(a) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(a) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(a))
      AND ($layout.scope_property IS NULL OR a[$layout.scope_property] = $layout.scope_value)
      AND any(l IN labels(b) WHERE l IN $layout.entity_labels)
      AND none(l IN labels(b) WHERE l IN $layout.entity_excluded_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(b))
      AND ($layout.scope_property IS NULL OR b[$layout.scope_property] = $layout.scope_value)))
  WITH n, toStringOrNull(n[$layout.valid_from_key]) AS at
  WITH at, collect(n) AS starting
  WITH at, starting WHERE at IN instants
  RETURN collect({at: at, starting: starting}) AS beginnings
}
CALL (retired, beginnings) {
  UNWIND retired AS x
  WITH x.r AS r, x.at AS at, coalesce(toStringOrNull(x.r[$layout.relation_label_key]), type(x.r)) AS label, 'old' AS role
  RETURN r, at, label, role
  UNION ALL
  UNWIND beginnings AS y
  UNWIND y.starting AS r
  RETURN r, y.at AS at, coalesce(toStringOrNull(r[$layout.relation_label_key]), type(r)) AS label, 'new' AS role
}
WITH r, at, label, role, elementId(startNode(r)) AS s, elementId(endNode(r)) AS t
UNWIND [[at], [at, CASE WHEN s < t THEN s ELSE t END, CASE WHEN s < t THEN t ELSE s END], [at, label, s, null], [at, label, t, null]] AS key
WITH key, collect(CASE role WHEN 'old' THEN r END) AS olds, collect(CASE role WHEN 'new' THEN r END)[0..2] AS news
WHERE size(olds) > 0
UNWIND olds AS r
WITH r, size(key) AS kind, [n IN news WHERE n <> r | n][0] AS successor
WITH r, head(collect(CASE kind WHEN 1 THEN successor END)) AS any_successor,
     count(CASE WHEN kind > 1 AND successor IS NOT NULL THEN 1 END) AS plausible
WITH count(*) AS total, collect(CASE WHEN any_successor IS NOT NULL AND plausible = 0 THEN {r: r, n: any_successor} END) AS hits
RETURN size(hits) AS count, total, COLLECT {
  UNWIND hits AS hit
  WITH hit.r AS r, hit.n AS n, left(coalesce(toStringOrNull(hit.r[$layout.relation_label_key]), type(hit.r)), 200) AS label, left(coalesce(toStringOrNull(hit.n[$layout.relation_label_key]), type(hit.n)), 200) AS new_label
  WITH r, n, label, new_label, left(coalesce(head([k IN $layout.name_keys WHERE startNode(r)[k] IS NOT NULL | toStringOrNull(startNode(r)[k])]), ''), 200) + ' -[' + label + ']-> ' + left(coalesce(head([k IN $layout.name_keys WHERE endNode(r)[k] IS NOT NULL | toStringOrNull(endNode(r)[k])]), ''), 200) AS name,
       left(coalesce(head([k IN $layout.name_keys WHERE startNode(n)[k] IS NOT NULL | toStringOrNull(startNode(n)[k])]), ''), 200) + ' -[' + new_label + ']-> ' + left(coalesce(head([k IN $layout.name_keys WHERE endNode(n)[k] IS NOT NULL | toStringOrNull(endNode(n)[k])]), ''), 200) AS new_name
  ORDER BY name, elementId(r)
  LIMIT $sample
  RETURN {items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'},
                  {element_id: elementId(n), key: new_name, name: new_name, type: new_label, kind: 'relation'}],
          why: 'the first ended at ' + left(toStringOrNull(r[$layout.valid_to_key]), 40) + ', when only unrelated facts such as the second began'}
} AS sample
