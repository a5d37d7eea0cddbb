// update-relations: sets properties of relations that are there; a null takes a property away.
//
// :param rows => [['5:00000000-0000-0000-0000-000000000000:0', {weight: 2.0}]] -- LIST: element id, properties
//
// returns: updated INTEGER
// mode: write
UNWIND $rows AS row
MATCH ()-[r]->() WHERE elementId(r) = row[0]
SET r += row[1]
RETURN count(r) AS updated
