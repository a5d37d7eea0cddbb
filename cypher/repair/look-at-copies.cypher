// look-at-copies: entities that may be one thing, side by side: name, type, how many relations each has, and all that is said of them.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them
//
// returns: name STRING, type STRING, relations INTEGER, said MAP, element_id STRING
// mode: read
MATCH (e:@Entity)
WHERE elementId(e) IN $element_ids
RETURN @name(e) AS name, @type(e) AS type, COUNT { (e)--() } AS relations, properties(e) AS said, elementId(e) AS element_id
ORDER BY toLower(name), type
