// entities-by-number: names and types of entities given by their internal ids, by which a session knows them.
//
// :param ids => [0]               -- LIST OF INTEGER: internal ids
//
// returns: id INTEGER, item MAP
// mode: read
MATCH (e) WHERE id(e) IN $ids
WITH e, left(coalesce(@shown(e), ''), 200) AS name
RETURN id(e) AS id, {element_id: elementId(e), key: left(coalesce(@key(e), name), 200), name: name,
                     type: @type(e), kind: 'entity'} AS item
