// without-role: the nodes and relations of the graph that play no role in the layout, by label and by type, and how many there are of all.
// Relations with an end that a layout knows as structure, and relations between chunks and documents, play one. What kgeval wrote to be
// looked at (score --write-back) is no part of the graph.
//
// returns: kind STRING, name STRING, count INTEGER
// mode: read
MATCH (n:@Node)
WHERE none(l IN labels(n) WHERE l STARTS WITH 'KgevalPair')
WITH labels(n) AS labels, count(*) AS count
UNWIND CASE WHEN none(l IN labels WHERE l IN @entity_labels + @chunk_labels + @document_labels + @entity_excluded_labels)
  THEN CASE WHEN isEmpty(labels) THEN ['(no label)', null] ELSE [coalesce(@kind(labels), labels[0]), null] END ELSE [null] END AS name
RETURN CASE WHEN name IS NULL THEN 'nodes' ELSE 'node' END AS kind, name, sum(count) AS count
UNION ALL
MATCH (a)-[r]->(b)
// as a column: with conditions on both ends the server goes from node to node, which takes twice as long as one pass over the relations
WITH a, r, b, @is(a, Node) AND @is(b, Node)
  AND none(l IN labels(a) WHERE l STARTS WITH 'KgevalPair') AS in_graph
WHERE in_graph
WITH type(r) AS type, CASE
    WHEN @is(r, RELATION) AND @relations_join_entities_only THEN true
    WHEN type(r) IN @relation_excluded_types THEN true
    WHEN type(r) IN @mention_types + @chunk_document_types AND NOT @is(r, RELATION) THEN true
    WHEN any(l IN labels(a) + labels(b) WHERE l IN @entity_excluded_labels) THEN true
    WHEN any(l IN labels(a) WHERE l IN @chunk_labels + @document_labels)
      THEN any(l IN labels(b) WHERE l IN @chunk_labels + @document_labels)
        OR @is(r, MENTION)
    WHEN any(l IN labels(b) WHERE l IN @chunk_labels + @document_labels) THEN @is(r, MENTION)
    ELSE @is(r, RELATION) AND any(l IN labels(a) WHERE l IN @entity_labels)
      AND any(l IN labels(b) WHERE l IN @entity_labels) END AS plays, count(*) AS count
UNWIND CASE WHEN plays THEN [null] ELSE [type, null] END AS name
RETURN CASE WHEN name IS NULL THEN 'relations' ELSE 'relation' END AS kind, name, sum(count) AS count
