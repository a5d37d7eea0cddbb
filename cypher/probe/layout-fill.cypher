// layout-fill: how many nodes with one of some labels have each of some properties.
//
// :param labels => ['Chunk']            -- LIST OF STRING: the labels
// :param keys => ['text', 'id']         -- LIST OF STRING: the properties
// :param scope_label => null            -- STRING: a label that they must carry too; null = none
//
// returns: key STRING, nodes INTEGER, filled INTEGER
// mode: read
MATCH (n)
WHERE any(l IN labels(n) WHERE l IN $labels) AND ($scope_label IS NULL OR $scope_label IN labels(n))
UNWIND $keys AS key
RETURN key, count(*) AS nodes, count(n[key]) AS filled
