// markup-in-name: entities whose name carries what is left of markup or a broken encoding.
// An entity of HTML, a tag, LaTeX, an escape, a mark of a footnote behind a word, bytes read as Latin, one quotation mark.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, left(@name(e), 1000) AS name
WITH e, @markup(name) AS left_over
WITH count(*) AS total, collect(CASE WHEN left_over IS NOT NULL THEN {e: e, why: left_over} END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit.e AS e, hit.why AS why
WITH total, count, e, why, @name(e) AS name, COUNT { (e)--() } AS links
ORDER BY links DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name, ''), 200),
   name: left(coalesce(name, ''), 200), kind: 'entity',
   type: @type(e)}],
  why: why
} END) AS sample
