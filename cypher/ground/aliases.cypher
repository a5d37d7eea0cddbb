// aliases: the aliases of every entity that has some, one after another (streamed).
//
// returns: element_id STRING, aliases LIST OF STRING
// mode: read
MATCH (e:@Entity)
WITH e, [x IN @aliases(e) | left(x, 300)][..50] AS aliases
WHERE size(aliases) > 0
RETURN elementId(e) AS element_id, aliases
