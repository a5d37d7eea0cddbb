// undeclared-relation: relations of a type that the schema does not declare.
// Where a property holds the relation's name, either that name or the Neo4j type may be declared.
//
// :param sample => 5              -- INTEGER: examples to return
// :param schema => {node_types: ['Person'], relation_types: ['KNOWS'], patterns: [['Person', 'KNOWS', 'Person']], open_types: false, open_relations: false, open_patterns: false, node_properties: [{label: 'Person', property: 'name', types: ['STRING']}], relation_properties: [], node_required: [{label: 'Person', property: 'name'}], relation_required: []} -- MAP: the declared schema (docs/schema-files.md)
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH @label(r) AS label, type(r) AS type, count(*) AS relations, collect(r)[0..$sample] AS some
WITH label, relations, some,
     NOT $schema.open_relations AND NOT label IN $schema.relation_types AND NOT type IN $schema.relation_types AS wrong
WITH sum(relations) AS total, sum(CASE WHEN wrong THEN relations ELSE 0 END) AS count,
     collect(CASE WHEN wrong THEN {label: label, relations: relations, some: some} END) AS groups
WITH total, count, CASE WHEN isEmpty(groups) THEN [null] ELSE groups END AS groups
UNWIND groups AS g
UNWIND CASE WHEN g IS NULL THEN [null] ELSE range(0, size(g.some) - 1) END AS turn
WITH total, count, turn, g.some[turn] AS r, left(g.label, 200) AS label, g.relations AS relations, count(*) AS once
WITH total, count, turn, r, label, relations, left(@display(startNode(r)), 200) + ' -[' + label + ']-> ' + left(@display(endNode(r)), 200) AS name
ORDER BY turn, relations DESC, label, name, elementId(r) LIMIT $sample
RETURN count, total, collect(CASE WHEN r IS NOT NULL THEN {
  items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}],
  why: 'the schema has no relation ' + label + ' (' + relations + ' such relations)'} END) AS sample
