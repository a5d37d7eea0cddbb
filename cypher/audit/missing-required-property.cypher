// missing-required-property: entities and relations without a property that the schema requires.
// `total` counts every property that must be there, `count` the absent ones.
//
// :param sample => 5              -- INTEGER: examples to return
// :param schema => {node_types: ['Person'], relation_types: ['KNOWS'], patterns: [['Person', 'KNOWS', 'Person']], open_types: false, open_relations: false, open_patterns: false, node_properties: [{label: 'Person', property: 'name', types: ['STRING']}], relation_properties: [], node_required: [{label: 'Person', property: 'name'}], relation_required: []} -- MAP: the declared schema (docs/schema-files.md)
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (e:@Entity)
  WHERE size($schema.node_required) > 0
  WITH e, labels(e) + [toStringOrNull(e.@type_key)] AS types
  UNWIND [q IN $schema.node_required WHERE q.label IN types] AS q
  WITH q, count(*) AS needed, collect(CASE WHEN e[q.property] IS NULL THEN e END) AS lacking
  RETURN collect({property: q.property, label: q.label, needed: needed, missing: size(lacking), some: [e IN lacking[0..$sample] | {
    element_id: elementId(e), name: left(@display(e), 200), type: @type(e), kind: 'entity',
    key: left(coalesce(@key(e), @display(e)), 200)}]}) AS nodes
}
CALL () {
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE size($schema.relation_required) > 0 AND @is(r, RELATION)
  WITH r, [type(r), @label(r)] AS types
  UNWIND [q IN $schema.relation_required WHERE q.label IN types] AS q
  WITH q, count(*) AS needed, collect(CASE WHEN r[q.property] IS NULL THEN r END) AS lacking
  RETURN collect({property: q.property, label: q.label, needed: needed, missing: size(lacking), some: [r IN lacking[0..$sample] | {
    element_id: elementId(r), type: left(@label(r), 200), kind: 'relation',
    name: left(@display(startNode(r)), 200) + ' -[' + left(@label(r), 200) + ']-> ' + left(@display(endNode(r)), 200)}]}) AS relations
}
WITH nodes + relations AS found
WITH [g IN found WHERE g.missing > 0] AS groups, reduce(n = 0, g IN found | n + g.needed) AS total,
     reduce(n = 0, g IN found | n + g.missing) AS count
WITH total, count, CASE WHEN isEmpty(groups) THEN [null] ELSE groups END AS groups
UNWIND groups AS g
UNWIND CASE WHEN g IS NULL THEN [null] ELSE range(0, size(g.some) - 1) END AS turn
WITH total, count, turn, g.some[turn] AS item, g.missing AS missing, g.label AS label, g.property AS property,
     count(*) AS once
WITH total, count, turn, item, missing, label, property
ORDER BY turn, missing DESC, label, property, item.name, item.element_id LIMIT $sample
RETURN count, total, collect(CASE WHEN item IS NOT NULL THEN {
  items: [item {.*, key: coalesce(item.key, item.name)}], why: 'no ' + left(property, 200) + ', which ' + left(label, 200) + ' requires (' + missing + ' such)'} END) AS sample
