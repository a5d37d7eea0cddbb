// layout-counts: nodes by label, relations by type and by the labels of their ends, from the count store.
// No node is read. Some servers keep this procedure for administrators; layout-scan-* answer then.
//
// returns: nodes LIST OF MAP, relations LIST OF MAP
// mode: read
CALL db.stats.retrieve('GRAPH COUNTS') YIELD data
RETURN data.nodes AS nodes, data.relationships AS relations
