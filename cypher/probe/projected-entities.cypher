// projected-entities: names and types of entities given by their ids in a projected graph.
//
// :param ids => [0]               -- LIST OF INTEGER: ids of the projected graph
//
// returns: id INTEGER, item MAP
// needs: gds.util.asNode
// mode: read
UNWIND $ids AS id
WITH id, gds.util.asNode(id) AS e
WHERE e IS NOT NULL
WITH id, e, left(@display(e), 200) AS name
RETURN id, {element_id: elementId(e), key: left(coalesce(@key(e), name), 200), name: name,
            type: @type(e), kind: 'entity'} AS item
