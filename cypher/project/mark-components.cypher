// mark-components: notes the component of every node of a projected graph as its property component.
//
// :param graph_name => 'mine'     -- STRING: a projected graph
// :param types => ['SIMPLE']      -- LIST OF STRING: relation types of the projection
//
// returns: components INTEGER
// needs: gds.wcc.mutate
// mode: read
CALL gds.wcc.mutate($graph_name, {mutateProperty: 'component', relationshipTypes: $types, logProgress: false})
YIELD componentCount
RETURN componentCount AS components
