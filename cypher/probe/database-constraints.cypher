// database-constraints: the constraints of this database, as a declared schema. Graph types (Neo4j 2026) show here too.
//
// returns: type STRING, entityType STRING, labelsOrTypes LIST OF STRING, properties LIST OF STRING, propertyType STRING
// mode: read
SHOW CONSTRAINTS YIELD *
RETURN *
