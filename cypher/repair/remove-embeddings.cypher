// remove-embeddings: takes embeddings away, so that the writer's next run makes them anew.
// Until then a vector search does not find these nodes.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities and chunks, as the finding lists them
//
// returns: changed INTEGER
// mode: write
MATCH (n)
WHERE elementId(n) IN $element_ids
WITH n, [k IN [CASE WHEN @is(n, Entity) THEN $layout.embedding_key END, CASE WHEN @is(n, Chunk) THEN $layout.chunk_embedding_key END]
  WHERE k IS NOT NULL AND n[k] IS NOT NULL] AS keys
WHERE size(keys) > 0
FOREACH (k IN keys | REMOVE n[k])
RETURN count(*) AS changed
