// relation-source-slices: every relation between entities with the chunks that it names, those of some entities at a time (see entity-slices).
// An entity is a list: its element id, and of its relations that go out three lists: element ids of the other ends, ids of chunks of each, and
// with $details element id and label of each. Ids and labels are most of what a relation takes on its way, and few relations are shown.
// Entities that together have more relations than a row should hold stand in a row each, hubs in several: a row is held as a whole.
//
// :param slice => 1000             -- INTEGER: entities a row
// :param ids => null              -- LIST OF STRING: element ids of the entities whose relations are read; null: of all
// :param details => true          -- BOOLEAN: with element id and label of each relation
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: rows LIST OF LIST
// mode: read
MATCH (e:@Entity)
WHERE ($ids IS NULL OR elementId(e) IN $ids)
WITH collect(e) AS found
UNWIND range(0, size(found) - 1, $slice) AS at
CALL (found, at) {
  UNWIND found[at..at + $slice] AS a
  MATCH (a)-[r:@RELATION]->(b)
  WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(r), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
    AND @is(b, Endpoint)
  WITH a, collect(elementId(b)) AS ends,
    collect(@sources(r, Relation)) AS sources,
    collect(CASE WHEN $details THEN [elementId(r), left(@label(r), 200)] END) AS details
  WITH collect([elementId(a), ends, sources, details]) AS rows, sum(size(ends)) AS held
  UNWIND CASE WHEN held <= 5000 THEN [rows] ELSE reduce(parts = [], row IN rows | parts + [cut IN range(0, size(row[1]) - 1, 5000) |
    [[row[0], row[1][cut..cut + 5000], row[2][cut..cut + 5000], row[3][cut..cut + 5000]]]]) END AS part
  RETURN part AS rows
}
RETURN rows
