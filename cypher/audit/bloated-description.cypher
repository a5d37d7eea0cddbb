// bloated-description: entity descriptions that have grown beyond use.
// Too many characters, or too many pieces merged into one (a list, or text with the layout's separator).
//
// :param sample => 5                    -- INTEGER: examples to return
// :param max_characters => 2000         -- INTEGER: a description may have so many characters
// :param max_pieces => 20               -- INTEGER: a description may be merged from so many pieces
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
  AND e.@description_key IS NOT NULL
WITH e, e.@description_key AS text
WITH e, CASE WHEN text IS :: STRING THEN size(text)
    WHEN text IS :: LIST<ANY> THEN reduce(n = 0, part IN text | n + coalesce(size(toStringOrNull(part)), 0)) ELSE 0 END AS characters,
  CASE WHEN text IS :: STRING AND @source_separator IS NOT NULL AND @source_separator <> ''
    THEN size(split(text, @source_separator))
    WHEN text IS :: LIST<ANY> THEN size(text) ELSE 1 END AS pieces
WITH count(*) AS total, collect(
  CASE WHEN characters > $max_characters OR pieces > $max_pieces THEN {e: e, characters: characters, pieces: pieces} END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit, hit.e AS e
WITH total, count, hit, e, @display(e) AS name
ORDER BY hit.characters DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN hit IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name), 200),
   name: left(name, 200), kind: 'entity',
   type: @type(e)}],
  why: toString(hit.characters) + ' characters in ' + toString(hit.pieces) + CASE hit.pieces WHEN 1 THEN ' piece' ELSE ' pieces' END
} END) AS sample
