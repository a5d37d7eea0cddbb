// look-at-nodes: what is to be embedded again. Embeddings are made by your writer's model, not by Cypher.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the nodes, as the finding lists them
//
// returns: element_id STRING, name STRING, text STRING
// mode: read
MATCH (n)
WHERE elementId(n) IN $element_ids
  AND (@is(n, Entity) OR @is(n, Chunk) OR @is(n, Document) OR @is(n, Community) OR @is(n, Memory))
RETURN elementId(n) AS element_id, @name(n) AS name, @text(n) AS text
