// layout-scan-types: relations by type and by the known labels of their ends, by reading every relation.
//
// :param labels => ['Chunk', 'Document', '__Entity__']     -- LIST OF STRING: labels to tell apart
//
// returns: type STRING, starts LIST OF STRING, ends LIST OF STRING, count INTEGER
// mode: read
MATCH (a)-[r]->(b)
RETURN type(r) AS type, [l IN labels(a) WHERE l IN $labels] AS starts, [l IN labels(b) WHERE l IN $labels] AS ends,
       count(*) AS count
