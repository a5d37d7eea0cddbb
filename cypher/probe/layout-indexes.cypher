// layout-indexes: the indexes of the database, token lookups left out.
//
// returns: name STRING, type STRING, labels LIST OF STRING, keys LIST OF STRING
// mode: read
SHOW INDEXES YIELD name, type, labelsOrTypes, properties
WHERE type <> 'LOOKUP'
RETURN name, type, labelsOrTypes AS labels, properties AS keys
