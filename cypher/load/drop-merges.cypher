// drop-merges: deletes decisions of entity resolution given by element id; nodes of other kinds are passed over.
//
// :param ids => ['4:00000000-0000-0000-0000-000000000000:0'] -- LIST OF STRING: element ids
//
// returns: deleted INTEGER
// mode: write
UNWIND $ids AS id
MATCH (m:__KgevalMerge__) WHERE elementId(m) = id
DETACH DELETE m
RETURN count(*) AS deleted
