// entity-source-slices: every named entity with the chunks that it is said to come from, some at a time (see entity-slices).
// An entity is a list: element id, key, name, type, aliases, element ids of linked chunks, ids of chunks that a property names.
//
// :param slice => 1000             -- INTEGER: entities a row
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: rows LIST OF LIST
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH collect(e) AS found
UNWIND range(0, size(found) - 1, $slice) AS at
CALL (found, at) {
  UNWIND found[at..at + $slice] AS e
  WITH e, @name(e) AS name
  WHERE name IS NOT NULL
  CALL (e) {
    MATCH (e)-[m:@MENTION]-(c)
    WHERE @is(c, Chunk)
    RETURN collect(DISTINCT elementId(c)) AS chunks
  }
  RETURN collect([elementId(e), left(coalesce(@key(e), name), 200), left(name, 1000), @type(e),
    @aliases(e), chunks,
    @sources(e, Entity)]) AS rows
}
RETURN rows
