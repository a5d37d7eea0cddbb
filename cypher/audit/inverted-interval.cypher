// inverted-interval: relations whose validity may end before it begins.
// `candidates` holds those where text or the types cannot be compared here; the audit compares their instants exactly.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: total INTEGER, sure LIST OF MAP, candidates LIST OF MAP
// mode: read
MATCH (a)-[r]->(b)
WHERE r[$layout.valid_from_key] IS NOT NULL AND r[$layout.valid_to_key] IS NOT NULL
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
WITH r, r[$layout.valid_from_key] AS start, r[$layout.valid_to_key] AS end
WITH r, start, end, CASE
  WHEN start IS :: LIST<ANY> OR end IS :: LIST<ANY> OR start IS :: BOOLEAN OR end IS :: BOOLEAN THEN false
  WHEN start IS :: STRING OR end IS :: STRING THEN null
  ELSE start > end
END AS inverted, start IS :: INTEGER OR start IS :: FLOAT OR end IS :: INTEGER OR end IS :: FLOAT AS numbers
WITH count(*) AS total,
     collect(CASE WHEN inverted THEN {r: r, start: toStringOrNull(start), end: toStringOrNull(end)} END) AS sure,
     collect(CASE WHEN inverted IS NULL AND (numbers OR left(toStringOrNull(start), 10) >= left(toStringOrNull(end), 10))
             THEN {r: r, start: toStringOrNull(start), end: toStringOrNull(end)} END) AS maybe
RETURN total,
  [h IN sure | {item: {element_id: elementId(h.r), type: left(coalesce(toStringOrNull(h.r[$layout.relation_label_key]), type(h.r)), 200),
    name: left(coalesce(head([k IN $layout.name_keys WHERE startNode(h.r)[k] IS NOT NULL | toStringOrNull(startNode(h.r)[k])]), ''), 200) + ' -[' + left(coalesce(toStringOrNull(h.r[$layout.relation_label_key]), type(h.r)), 200) + ']-> ' + left(coalesce(head([k IN $layout.name_keys WHERE endNode(h.r)[k] IS NOT NULL | toStringOrNull(endNode(h.r)[k])]), ''), 200)}, start: h.start, end: h.end}] AS sure,
  [h IN maybe | {item: {element_id: elementId(h.r), type: left(coalesce(toStringOrNull(h.r[$layout.relation_label_key]), type(h.r)), 200),
    name: left(coalesce(head([k IN $layout.name_keys WHERE startNode(h.r)[k] IS NOT NULL | toStringOrNull(startNode(h.r)[k])]), ''), 200) + ' -[' + left(coalesce(toStringOrNull(h.r[$layout.relation_label_key]), type(h.r)), 200) + ']-> ' + left(coalesce(head([k IN $layout.name_keys WHERE endNode(h.r)[k] IS NOT NULL | toStringOrNull(endNode(h.r)[k])]), ''), 200)}, start: h.start, end: h.end}] AS candidates
