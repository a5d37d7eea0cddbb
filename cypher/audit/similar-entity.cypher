// similar-entity: every named entity (or those given), to be listed with the others that its embedding is near to.
// The step after it finds the neighbours: gds.knn over the stored embeddings, or a local index over those that --embed makes.
//
// :param ids => null              -- LIST OF STRING: element ids; null = every named entity
//
// returns: element_id STRING, key STRING, name STRING, type STRING
// mode: read
MATCH (e:@Entity)
WHERE ($ids IS NULL OR elementId(e) IN $ids)
WITH e, @name(e) AS name
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, left(coalesce(@key(e), name), 200) AS key, left(name, 300) AS name,
       left(@type(e), 200) AS type
