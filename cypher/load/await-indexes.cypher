// await-indexes: returns when all indexes are filled.
//
// :param seconds => 600                              -- INTEGER: how long to wait at most
//
// returns: nothing
// mode: write
CALL db.awaitIndexes($seconds)
