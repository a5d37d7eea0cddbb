// missing-index: the indexes that the database has; the audit compares them with those that the layout's readers rely on.
//
// returns: type STRING, entity_type STRING, labels LIST OF STRING, properties LIST OF STRING, state STRING
// mode: read
SHOW INDEXES YIELD type, entityType, labelsOrTypes, properties, state
RETURN type, entityType AS entity_type, labelsOrTypes AS labels, properties, state
