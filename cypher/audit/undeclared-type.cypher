// undeclared-type: entities with a type that the schema does not declare.
// Entities with no type at all are left to missing-type.
//
// :param sample => 5              -- INTEGER: examples to return
// :param schema => {node_types: ['Person'], relation_types: ['KNOWS'], patterns: [['Person', 'KNOWS', 'Person']], open_types: false, open_relations: false, open_patterns: false, node_properties: [{label: 'Person', property: 'name', types: ['STRING']}], relation_properties: [], node_required: [{label: 'Person', property: 'name'}], relation_required: []} -- MAP: the declared schema (docs/schema-files.md)
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WITH e, CASE WHEN e.@type_key IS NOT NULL THEN [toStringOrNull(e.@type_key)]
             ELSE [l IN labels(e) WHERE NOT l IN @type_label_ignored AND NOT l = coalesce(@scope_label, '')] END AS types
WITH types, count(*) AS entities, collect(e)[0..$sample] AS some
WITH entities, some, COLLECT { UNWIND types AS t WITH t WHERE NOT $schema.open_types AND NOT t IN $schema.node_types RETURN t ORDER BY t } AS wrong
WITH sum(entities) AS total, sum(CASE WHEN size(wrong) > 0 THEN entities ELSE 0 END) AS count,
     collect(CASE WHEN size(wrong) > 0 THEN {some: some, wrong: wrong, entities: entities} END) AS groups
WITH total, count, CASE WHEN isEmpty(groups) THEN [null] ELSE groups END AS groups
UNWIND groups AS g
UNWIND CASE WHEN g IS NULL THEN [null] ELSE range(0, size(g.some) - 1) END AS turn
WITH total, count, turn, g.some[turn] AS e, g.wrong AS wrong, g.entities AS entities, count(*) AS once
WITH total, count, turn, e, wrong, entities, left(@display(e), 200) AS name
ORDER BY turn, entities DESC, wrong[0], name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name), 200), name: name,
           type: @type(e), kind: 'entity'}],
  why: 'the schema has no type ' + left(reduce(s = '', t IN wrong | s + CASE s WHEN '' THEN '' ELSE ', ' END + t), 200)
    + ' (' + entities + ' such entities)'} END) AS sample
