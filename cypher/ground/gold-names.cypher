// gold-names: the names and aliases of every entity, one after another, to be held against gold names.
// Read once, as a stream: no index is needed and none is made.
//
// returns: element_id STRING, name STRING, aliases LIST OF STRING
// mode: read
MATCH (e:@Entity)
WITH e, @shown(e) AS name
WHERE name IS NOT NULL
RETURN elementId(e) AS element_id, left(name, 2000) AS name,
       [x IN @aliases(e) | left(x, 300)][..50] AS aliases
