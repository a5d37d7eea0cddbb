// duplicate-name: every named entity, to be grouped by normalised name and type.
// The step after it folds case, punctuation and width and lists the names that several entities of one type share.
//
// returns: element_id STRING, key STRING, name STRING, type STRING
// mode: read
MATCH (e:@Entity)
WITH e, @name(e) AS name, @type(e) AS type
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, coalesce(@key(e), name) AS key, name, type
