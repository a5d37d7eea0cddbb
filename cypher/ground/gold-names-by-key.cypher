// gold-names-by-key: entities whose normalised name is one of the given ones, by the index that kgeval's own import makes.
//
// :param keys => ['ada']          -- LIST OF STRING: normalised names
// :param scope_label => 'demo'    -- STRING: the graph's label, or null
//
// returns: element_id STRING, name STRING, aliases LIST OF STRING
// mode: read
UNWIND $keys AS key
MATCH (e:__Entity__ {name_key: key})
WHERE $scope_label IS NULL OR $scope_label IN labels(e)
RETURN elementId(e) AS element_id, left(toStringOrNull(e.name), 2000) AS name, [] AS aliases
