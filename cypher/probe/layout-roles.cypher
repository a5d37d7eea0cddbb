// layout-roles: how many nodes a layout sees as entities, chunks, documents or known structure, and what it does not see.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME prints it)
//
// returns: entities INTEGER, chunks INTEGER, documents INTEGER, structure INTEGER, unseen INTEGER
// mode: read
MATCH (e)
WITH CASE
    WHEN any(l IN labels(e) WHERE l IN $layout.chunk_labels) THEN 'chunk'
    WHEN any(l IN labels(e) WHERE l IN $layout.document_labels) THEN 'document'
    WHEN any(l IN labels(e) WHERE l IN $layout.entity_excluded_labels) THEN 'structure'
    WHEN any(l IN labels(e) WHERE l IN $layout.entity_labels)
      AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
      AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value) THEN 'entity'
    ELSE 'unseen' END AS role, count(*) AS count
RETURN sum(CASE role WHEN 'entity' THEN count ELSE 0 END) AS entities,
       sum(CASE role WHEN 'chunk' THEN count ELSE 0 END) AS chunks,
       sum(CASE role WHEN 'document' THEN count ELSE 0 END) AS documents,
       sum(CASE role WHEN 'structure' THEN count ELSE 0 END) AS structure,
       sum(CASE role WHEN 'unseen' THEN count ELSE 0 END) AS unseen
