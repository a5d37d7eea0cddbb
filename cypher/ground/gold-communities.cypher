// gold-communities: the community of given entities in a projected graph.
//
// :param graph_name => 'mine'     -- STRING: name of the projected graph
// :param ids => ['4:x:1']         -- LIST OF STRING: element ids of entities
//
// returns: element_id STRING, community INTEGER
// needs: gds.util.nodeProperty
// mode: read
MATCH (e) WHERE elementId(e) IN $ids
RETURN elementId(e) AS element_id, gds.util.nodeProperty($graph_name, e, 'community') AS community
