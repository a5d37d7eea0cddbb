// layout-other-labels: the labels of nodes that carry one of some labels (chunks, documents, structure), and how many there are.
//
// :param labels => ['Chunk']         -- LIST OF STRING: the labels
// :param scope_label => null         -- STRING: a label that they must carry too; null = none
//
// returns: label STRING, count INTEGER
// mode: read
MATCH (n)
WHERE any(l IN labels(n) WHERE l IN $labels) AND ($scope_label IS NULL OR $scope_label IN labels(n))
UNWIND labels(n) + [null] AS label
RETURN label, count(*) AS count
