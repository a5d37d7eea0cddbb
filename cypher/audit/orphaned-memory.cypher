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
WITH sum(memories) AS total, sum(size(bare)) AS count, collect([m IN bare | {m: m, label: label}]) AS kinds
WITH total, count, CASE count WHEN 0 THEN [[null]] ELSE kinds END AS kinds
UNWIND kinds AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit.m AS m, hit.label AS label
WITH total, count, m, label, left(coalesce(toStringOrNull(m.name), toStringOrNull(m.preference),
  m.subject + ' ' + m.predicate + ' ' + m.object, toStringOrNull(m.fact), toStringOrNull(m.content), toStringOrNull(m.task),
  toStringOrNull(m.thought), toStringOrNull(m.tool_name), toStringOrNull(m.id), elementId(m)), 200) AS name
ORDER BY label, name, elementId(m) LIMIT $sample
RETURN count, total, collect(CASE WHEN m IS NOT NULL THEN {
  items: [{element_id: elementId(m), key: coalesce(toStringOrNull(m.id), name), name: name, type: label, kind: 'entity'}],
  why: null} END) AS sample
