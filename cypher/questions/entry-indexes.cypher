// entry-indexes: the vector indexes of the database, with what they hold.
//
// returns: name STRING, state STRING, labels LIST OF STRING, keys LIST OF STRING, dimensions INTEGER, similarity STRING
// mode: read
SHOW INDEXES YIELD name, type, state, entityType, labelsOrTypes, properties, options
WHERE type = 'VECTOR' AND entityType = 'NODE'
RETURN name, state, labelsOrTypes AS labels, properties AS keys, options['indexConfig']['vector.dimensions'] AS dimensions, toLower(options['indexConfig']['vector.similarity_function']) AS similarity
