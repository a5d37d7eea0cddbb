// drop-relations: deletes the relations given by element id.
//
// :param ids => ['5:00000000-0000-0000-0000-000000000000:0'] -- LIST OF STRING: element ids of relations
//
// returns: deleted INTEGER
// mode: write
UNWIND $ids AS id
MATCH ()-[r]->() WHERE elementId(r) = id
DELETE r
RETURN count(*) AS deleted
