// isolated-entity: entities with no relation to another entity.
// An isolated entity can never be reached by graph traversal. A self-loop alone does not connect.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WITH e, NOT EXISTS {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE o <> e AND @is(o, Endpoint)
} AS hit
WITH count(*) AS total, collect(CASE WHEN hit THEN e END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS e
WITH total, count, e, count(*) AS once
WITH total, count, e, left(@display(e), 200) AS name
ORDER BY name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name), 200), name: name,
           type: @type(e), kind: 'entity'}], why: null} END) AS sample
