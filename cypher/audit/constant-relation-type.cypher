// constant-relation-type: relations that all carry one label.
// With one label (RELATED, DIRECTED) for (nearly) all relations, what a relation says is only in its
// description. Graphs with few relations are left out.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param min_relations => 20            -- INTEGER: graphs with fewer relations are left out
// :param min_share => 0.95              -- FLOAT: share of the relations that one label must have (above 0.5)
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH @label(r) AS label, count(*) AS uses
WITH sum(uses) AS total, collect({label: label, uses: uses}) AS found
WITH total, [x IN found WHERE total >= $min_relations AND x.uses >= $min_share * total] AS hits
RETURN reduce(n = 0, x IN hits | n + x.uses) AS count, total, [x IN hits[0..$sample] | {
  items: [{element_id: null, key: left(x.label, 200), name: left(x.label, 200), type: null, kind: 'type'}],
  why: toString(x.uses) + ' of ' + toString(total) + ' relations', counts: x.uses
}] AS sample
