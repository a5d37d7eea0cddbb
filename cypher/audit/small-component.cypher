// small-component: groups of a few entities that hang together but are cut off from the giant component.
// Runs on a projected graph (type SIMPLE: one edge a pair). Single entities are left to isolated-entity.
//
// :param sample => 5              -- INTEGER: examples to return
// :param graph_name => 'mine'     -- STRING: a projected graph (see simple-graph)
// :param max_size => 3            -- INTEGER: largest size that is called small
// :param giant_share => 0.5       -- FLOAT: only where the largest component holds at least this share of all entities
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// needs: gds.wcc.stream, gds.util.asNode
// mode: read
CALL gds.wcc.stream($graph_name, {relationshipTypes: ['SIMPLE']})
YIELD nodeId, componentId
WITH componentId, count(*) AS size, collect(nodeId)[0..$max_size] AS members
WITH sum(size) AS entities, max(size) AS giant, sum(CASE WHEN size > 1 THEN 1 ELSE 0 END) AS total,
     collect(CASE WHEN size > 1 AND size <= $max_size THEN members END) AS small
WITH total, CASE WHEN giant > $max_size AND giant >= $giant_share * entities THEN small ELSE [] END AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS members
WITH total, count, members, count(*) AS once
CALL (members) {
  UNWIND members AS id
  WITH gds.util.asNode(id) AS e
  WITH e, left(@display(e), 200) AS name
  ORDER BY name, elementId(e)
  RETURN collect({element_id: elementId(e), key: left(coalesce(@key(e), name), 200), name: name,
                  type: @type(e),
                  kind: 'entity'}) AS items
}
WITH total, count, members, items
ORDER BY size(items) DESC, items[0].name, items[0].element_id LIMIT $sample
RETURN count, total, collect(CASE WHEN members IS NOT NULL THEN {items: items, why: size(items) + ' entities, cut off from the rest'} END) AS sample
