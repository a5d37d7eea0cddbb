// layout-tokens: all labels, relation types and property keys that the database has ever seen, and how much there is.
//
// returns: nodes INTEGER, relations INTEGER, labels LIST OF STRING, types LIST OF STRING, keys LIST OF STRING
// mode: read
CALL (*) { CALL db.labels() YIELD label RETURN collect(label) AS labels }
CALL (*) { CALL db.relationshipTypes() YIELD relationshipType RETURN collect(relationshipType) AS types }
CALL (*) { CALL db.propertyKeys() YIELD propertyKey RETURN collect(propertyKey) AS keys }
CALL (*) { MATCH (n) RETURN count(n) AS nodes }
CALL (*) { MATCH ()-[r]->() RETURN count(r) AS relations }
RETURN nodes, relations, labels, types, keys
