// layout-roles: how many nodes a layout sees as entities, chunks, documents or known structure, and what it does not see.
//
// returns: entities INTEGER, chunks INTEGER, documents INTEGER, structure INTEGER, unseen INTEGER
// mode: read
MATCH (e)
WITH CASE
    WHEN @has_label(e, Chunk) THEN 'chunk'
    WHEN @has_label(e, Document) THEN 'document'
    WHEN @has_label(e, Excluded) THEN 'structure'
    WHEN @has_label(e, Entity)
      AND @is(e, Node) THEN 'entity'
    ELSE 'unseen' END AS role, count(*) AS count
RETURN sum(CASE role WHEN 'entity' THEN count ELSE 0 END) AS entities,
       sum(CASE role WHEN 'chunk' THEN count ELSE 0 END) AS chunks,
       sum(CASE role WHEN 'document' THEN count ELSE 0 END) AS documents,
       sum(CASE role WHEN 'structure' THEN count ELSE 0 END) AS structure,
       sum(CASE role WHEN 'unseen' THEN count ELSE 0 END) AS unseen
