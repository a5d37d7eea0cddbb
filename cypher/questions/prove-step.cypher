// prove-step: where given entities come to by one hop along a predicate, for many questions at once.
// A predicate is the same in any spelling: case, spaces, hyphens and underscores are left out. `forward` null: in either direction.
// A label that is a list of keywords names no relation: `listed` has its keywords, and every relation with one of them counts; without any
// keyword (a label that says only that there is a relation) every relation does.
//
// :param rows => [{n: 0, at: '4:x:1', predicate: 'worksfor', listed: null, forward: true}] -- LIST OF MAP: one hop each
// :param most => 200              -- INTEGER: entities reached at most
//
// returns: n INTEGER, reached LIST OF LIST
// mode: read
UNWIND $rows AS row
MATCH (e) WHERE elementId(e) = row.at
CALL (row, e) {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE (CASE row.forward WHEN true THEN startNode(r) WHEN false THEN endNode(r) ELSE e END) = e
    AND @is(o, Entity)
  WITH o, replace(replace(replace(toLower(left(@label(r), 200)), '_', ''), ' ', ''), '-', '') AS label
  WHERE label = row.predicate OR isEmpty(row.listed) OR any(word IN split(reduce(words = label,
      separator IN ['<sep>', ';', '|', '\n', '，', '、', '；'] | replace(words, separator, ',')), ',') WHERE word IN row.listed)
  WITH DISTINCT o LIMIT $most
  RETURN collect([elementId(o), left(coalesce(@shown(o), ''), 300)]) AS reached
}
RETURN row.n AS n, reached
