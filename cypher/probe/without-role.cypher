// without-role: the nodes and relations of the graph that play no role in the layout, by label and by type, and how many there are of all.
// Relations with an end that a layout knows as structure, and relations between chunks and documents, play one. What kgeval wrote to be
// looked at (score --write-back) is no part of the graph.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: kind STRING, name STRING, count INTEGER
// mode: read
MATCH (n)
WHERE ($layout.scope_label IS NULL OR $layout.scope_label IN labels(n))
  AND ($layout.scope_property IS NULL OR n[$layout.scope_property] = $layout.scope_value)
  AND none(l IN labels(n) WHERE l STARTS WITH 'KgevalPair')
WITH labels(n) AS labels, count(*) AS count
UNWIND CASE WHEN none(l IN labels WHERE l IN $layout.entity_labels + $layout.chunk_labels + $layout.document_labels + $layout.entity_excluded_labels)
  THEN CASE WHEN isEmpty(labels) THEN ['(no label)', null] ELSE [coalesce(@kind(labels), labels[0]), null] END ELSE [null] END AS name
RETURN CASE WHEN name IS NULL THEN 'nodes' ELSE 'node' END AS kind, name, sum(count) AS count
UNION ALL
MATCH (a)-[r]->(b)
// as a column: with conditions on both ends the server goes from node to node, which takes twice as long as one pass over the relations
WITH a, r, b, ($layout.scope_label IS NULL OR ($layout.scope_label IN labels(a) AND $layout.scope_label IN labels(b)))
  AND ($layout.scope_property IS NULL OR (a[$layout.scope_property] = $layout.scope_value AND b[$layout.scope_property] = $layout.scope_value))
  AND none(l IN labels(a) WHERE l STARTS WITH 'KgevalPair') AS in_graph
WHERE in_graph
WITH type(r) AS type, CASE
    WHEN type(r) IN $layout.relation_types AND $layout.relations_join_entities_only THEN true
    WHEN type(r) IN $layout.relation_excluded_types THEN true
    WHEN type(r) IN $layout.mention_types + $layout.chunk_document_types AND NOT type(r) IN $layout.relation_types THEN true
    WHEN any(l IN labels(a) + labels(b) WHERE l IN $layout.entity_excluded_labels) THEN true
    WHEN any(l IN labels(a) WHERE l IN $layout.chunk_labels + $layout.document_labels)
      THEN any(l IN labels(b) WHERE l IN $layout.chunk_labels + $layout.document_labels)
        OR type(r) IN $layout.mention_types
    WHEN any(l IN labels(b) WHERE l IN $layout.chunk_labels + $layout.document_labels) THEN type(r) IN $layout.mention_types
    ELSE type(r) IN $layout.relation_types AND any(l IN labels(a) WHERE l IN $layout.entity_labels)
      AND any(l IN labels(b) WHERE l IN $layout.entity_labels) END AS plays, count(*) AS count
UNWIND CASE WHEN plays THEN [null] ELSE [type, null] END AS name
RETURN CASE WHEN name IS NULL THEN 'relations' ELSE 'relation' END AS kind, name, sum(count) AS count
