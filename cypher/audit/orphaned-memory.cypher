// orphaned-memory: facts, preferences and steps that nothing is linked to, where at least half of their kind are linked to something.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (m:@Memory)
WITH m, head([l IN labels(m) WHERE l IN @memory_labels]) AS label, EXISTS { (m)--() } AS linked
WITH label, count(*) AS memories, sum(CASE WHEN linked THEN 1 ELSE 0 END) AS linked, collect(CASE WHEN NOT linked THEN m END) AS bare
WHERE 2 * linked >= memories
WITH sum(memories) AS total, collect({label: label, bare: bare}) AS kinds
CALL (kinds) {
  UNWIND kinds AS one
  UNWIND one.bare AS m
  WITH m, one.label AS label, left(coalesce(toStringOrNull(m.name), toStringOrNull(m.preference),
    m.subject + ' ' + m.predicate + ' ' + m.object, toStringOrNull(m.fact), toStringOrNull(m.content), toStringOrNull(m.task),
    toStringOrNull(m.thought), toStringOrNull(m.tool_name), toStringOrNull(m.id), elementId(m)), 200) AS name
  ORDER BY label, name, elementId(m) LIMIT $sample
  RETURN collect({items: [{element_id: elementId(m), key: coalesce(toStringOrNull(m.id), name), name: name, type: label, kind: 'entity'}],
    why: null}) AS sample
}
RETURN reduce(n = 0, one IN kinds | n + size(one.bare)) AS count, total, sample
