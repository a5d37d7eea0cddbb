// pattern-violation: relations that join two types which the schema does not allow for them.
// Only relations whose own type and both ends are declared are judged; the others are undeclared-type's and undeclared-relation's.
//
// :param sample => 5              -- INTEGER: examples to return
// :param schema => {node_types: ['Person'], relation_types: ['KNOWS'], patterns: [['Person', 'KNOWS', 'Person']], open_types: false, open_relations: false, open_patterns: false, node_properties: [{label: 'Person', property: 'name', types: ['STRING']}], relation_properties: [], node_required: [{label: 'Person', property: 'name'}], relation_required: []} -- MAP: the declared schema (docs/schema-files.md)
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH r, a, b, @label(r) AS label
WITH [x IN [label, type(r)] WHERE x IN $schema.relation_types][0] AS label,
     CASE WHEN a.@type_key IS NOT NULL THEN [toStringOrNull(a.@type_key)]
          ELSE [l IN labels(a) WHERE NOT l IN @type_label_ignored AND NOT l = coalesce(@scope_label, '')] END AS sources,
     CASE WHEN b.@type_key IS NOT NULL THEN [toStringOrNull(b.@type_key)]
          ELSE [l IN labels(b) WHERE NOT l IN @type_label_ignored AND NOT l = coalesce(@scope_label, '')] END AS targets, r
WHERE label IS NOT NULL
WITH label, sources, targets, count(*) AS relations, collect(r)[0..$sample] AS some
WITH label, [t IN sources WHERE t IN $schema.node_types] AS sources, [t IN targets WHERE t IN $schema.node_types] AS targets, relations, some
WHERE size(sources) > 0 AND size(targets) > 0
WITH label, sources, targets, relations, some,
     NOT $schema.open_patterns AND none(p IN $schema.patterns WHERE p[1] = label AND p[0] IN sources AND p[2] IN targets) AS wrong,
     any(p IN $schema.patterns WHERE p[1] = label AND p[2] IN sources AND p[0] IN targets) AS reversed
WITH sum(relations) AS total, sum(CASE WHEN wrong THEN relations ELSE 0 END) AS count,
     collect(CASE WHEN wrong THEN {label: label, relations: relations, some: some, reversed: reversed,
                                   pattern: coalesce(@kind(sources), sources[0]) + ' -[' + label + ']-> ' + coalesce(@kind(targets), targets[0])} END) AS groups
WITH total, count, CASE WHEN isEmpty(groups) THEN [null] ELSE groups END AS groups
UNWIND groups AS g
UNWIND CASE WHEN g IS NULL THEN [null] ELSE range(0, size(g.some) - 1) END AS turn
WITH total, count, turn, g.some[turn] AS r, left(g.label, 200) AS label, g.pattern AS pattern, g.reversed AS reversed,
     g.relations AS relations, count(*) AS once
WITH total, count, turn, r, label, pattern, reversed, relations, left(@display(startNode(r)), 200) + ' -[' + label + ']-> ' + left(@display(endNode(r)), 200) AS name
ORDER BY turn, relations DESC, pattern, name, elementId(r) LIMIT $sample
RETURN count, total, collect(CASE WHEN r IS NOT NULL THEN {
  items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}],
  why: 'the schema does not allow ' + left(pattern, 300) + CASE WHEN reversed THEN ', but allows the reverse' ELSE '' END
    + ' (' + relations + ' such relations)', repairable: reversed} END) AS sample
