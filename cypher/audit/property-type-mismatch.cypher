// property-type-mismatch: property values of another type than the schema declares.
// `total` counts the values of declared properties that are there. A whole number stands for a FLOAT too; LIST stands for a list of anything.
//
// :param sample => 5              -- INTEGER: examples to return
// :param schema => {node_types: ['Person'], relation_types: ['KNOWS'], patterns: [['Person', 'KNOWS', 'Person']], open_types: false, open_relations: false, open_patterns: false, node_properties: [{label: 'Person', property: 'name', types: ['STRING']}], relation_properties: [], node_required: [{label: 'Person', property: 'name'}], relation_required: []} -- MAP: the declared schema (docs/schema-files.md)
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (e:@Entity)
  WHERE size($schema.node_properties) > 0
  WITH e, labels(e) + [toStringOrNull(e.@type_key)] AS types
  UNWIND [q IN $schema.node_properties WHERE q.label IN types AND e[q.property] IS NOT NULL] AS q
  WITH q, valueType(e[q.property]) AS actual, count(*) AS values, collect(e) AS held
  RETURN collect({q: q, actual: replace(actual, ' NOT NULL', ''), values: values, some: [e IN held[0..$sample] | {
    element_id: elementId(e), name: left(@display(e), 200), type: @type(e), kind: 'entity',
    key: left(coalesce(@key(e), @display(e)), 200)}]}) AS nodes
}
CALL () {
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE size($schema.relation_properties) > 0 AND @is(r, RELATION)
  WITH r, [type(r), @label(r)] AS types
  UNWIND [q IN $schema.relation_properties WHERE q.label IN types AND r[q.property] IS NOT NULL] AS q
  WITH q, valueType(r[q.property]) AS actual, count(*) AS values, collect(r) AS held
  RETURN collect({q: q, actual: replace(actual, ' NOT NULL', ''), values: values, some: [r IN held[0..$sample] | {
    element_id: elementId(r), type: left(@label(r), 200), kind: 'relation',
    name: left(@display(startNode(r)), 200) + ' -[' + left(@label(r), 200) + ']-> ' + left(@display(endNode(r)), 200)}]}) AS relations
}
WITH [g IN nodes + relations | g {.*, wrong: NOT (g.actual IN g.q.types OR (g.actual = 'INTEGER' AND 'FLOAT' IN g.q.types)
                           OR (g.actual STARTS WITH 'LIST' AND 'LIST' IN g.q.types)
                           OR (g.actual = 'LIST<NOTHING>' AND any(t IN g.q.types WHERE t STARTS WITH 'LIST')))}] AS all_groups
WITH [g IN all_groups WHERE g.wrong] AS groups, reduce(n = 0, g IN all_groups | n + g.values) AS total
WITH total, groups, reduce(n = 0, g IN groups | n + g.values) AS count
WITH total, count, CASE WHEN isEmpty(groups) THEN [null] ELSE groups END AS groups
UNWIND groups AS g
UNWIND CASE WHEN g IS NULL THEN [null] ELSE range(0, size(g.some) - 1) END AS turn
WITH total, count, turn, g.some[turn] AS item, g.values AS values, g.q.label AS label, g.q.property AS property,
     g.q.types AS types, g.actual AS actual, count(*) AS once
WITH total, count, turn, item, values, label, property, types, actual
ORDER BY turn, values DESC, label, property, actual, item.name, item.element_id LIMIT $sample
RETURN count, total, collect(CASE WHEN item IS NOT NULL THEN {
  items: [item {.*, key: coalesce(item.key, item.name)}], why: left(label + '.' + property, 200) + ' is ' + actual + ', declared '
    + reduce(s = '', t IN types | s + CASE s WHEN '' THEN '' ELSE ' or ' END + t) + ' (' + values + ' such values)'} END) AS sample
