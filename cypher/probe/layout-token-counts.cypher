// layout-token-counts: how many labels and relation types the database has ever seen, used or not.
// Tells beforehand how long layout-counts will take: it asks the store for every label with every type.
//
// returns: labels INTEGER, types INTEGER
// mode: read
CALL db.stats.retrieve('META') YIELD data
RETURN data.labelCount AS labels, data.relationshipTypeCount AS types
