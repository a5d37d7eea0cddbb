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
  WITH q, valueType(e[q.property]) AS actual, count(*) AS values, collect(e)[0..$sample] AS some
  RETURN collect({q: q, actual: replace(actual, ' NOT NULL', ''), values: values, some: some}) AS nodes
}
CALL () {
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE size($schema.relation_properties) > 0 AND @is(r, RELATION)
  WITH r, [type(r), @label(r)] AS types
  UNWIND [q IN $schema.relation_properties WHERE q.label IN types AND r[q.property] IS NOT NULL] AS q
  WITH q, valueType(r[q.property]) AS actual, count(*) AS values, collect(r)[0..$sample] AS some
  RETURN collect({q: q, actual: replace(actual, ' NOT NULL', ''), values: values, some: some}) AS relations
}
WITH [g IN [x IN nodes | x {.*, is_node: true}] + [x IN relations | x {.*, is_node: false}]
      | g {.*, wrong: NOT (g.actual IN g.q.types OR (g.actual = 'INTEGER' AND 'FLOAT' IN g.q.types)
                           OR (g.actual STARTS WITH 'LIST' AND 'LIST' IN g.q.types)
                           OR (g.actual = 'LIST<NOTHING>' AND any(t IN g.q.types WHERE t STARTS WITH 'LIST')))}] AS all_groups
WITH [g IN all_groups WHERE g.wrong] AS groups, reduce(n = 0, g IN all_groups | n + g.values) AS total
WITH total, groups, reduce(n = 0, g IN groups | n + g.values) AS count
WITH total, count, CASE WHEN isEmpty(groups) THEN [null] ELSE groups END AS groups
UNWIND groups AS g
UNWIND CASE WHEN g IS NULL THEN [null] ELSE range(0, size(g.some) - 1) END AS turn
WITH total, count, turn, g.some[turn] AS x, g.is_node AS is_node, g.values AS values, g.q.label AS label, g.q.property AS property,
     g.q.types AS types, g.actual AS actual, count(*) AS once
CALL (x, is_node) {
  WITH x, is_node WHERE is_node
  WITH x AS e, left(coalesce(@shown(x), ''), 200) AS name
  RETURN {element_id: elementId(e), key: left(coalesce(@key(e), name), 200), name: name,
          type: @type(e), kind: 'entity'} AS item
  UNION ALL
  WITH x, is_node WHERE NOT coalesce(is_node, false)
  WITH x AS r, left(@label(x), 200) AS label
  WITH r, label, left(coalesce(@shown(startNode(r)), ''), 200) + ' -[' + label + ']-> ' + left(coalesce(@shown(endNode(r)), ''), 200) AS name
  RETURN {element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'} AS item
}
WITH total, count, turn, x, item, values, label, property, types, actual
ORDER BY turn, values DESC, label, property, actual, item.name, item.element_id LIMIT $sample
RETURN count, total, collect(CASE WHEN x IS NOT NULL THEN {
  items: [item], why: left(label + '.' + property, 200) + ' is ' + actual + ', declared '
    + reduce(s = '', t IN types | s + CASE s WHEN '' THEN '' ELSE ' or ' END + t) + ' (' + values + ' such values)'} END) AS sample
