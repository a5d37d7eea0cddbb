// fragmented-entity: every named entity, to be compared with the others by surface form.
// The step after it blocks the names, compares only within blocks, and asks probe/entity-contexts.cypher what two entities share.
//
// returns: element_id STRING, key STRING, name STRING, type STRING, aliases LIST OF STRING
// mode: read
MATCH (e:@Entity)
WITH e, @name(e) AS name
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, coalesce(@key(e), name) AS key, left(name, 300) AS name,
       @type(e) AS type,
       @aliases(e) AS aliases
