// numeric-entity: entities whose name is only numbers, dates and units.
// Every part of the name is a number, an ordinal, a month, a weekday or a unit, and at least one has a digit.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param units => ['km', 'percent', 'march', 'january'] -- LIST OF STRING: units, months, weekdays and the like, in lower case
// :param max_characters => 60           -- INTEGER: longer names are not looked at
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, @name(e) AS name
WITH e, CASE WHEN size(name) <= $max_characters THEN replace(toLower(trim(normalize(name, NFKC))), 'ß', 'ss') END AS folded
WITH e, CASE WHEN folded =~ '.*\\p{N}.*' THEN
  [t IN split(reduce(t = folded, c IN ['-', '–', '—', '−', '/', '.', ',', ':', ';', '(', ')',
    '[', ']', '+', '±', '~', '<', '>', '=', '*', '×', '^', '%', '‰', '°', '$', '€', '£', '¥',
    '₽', '₹', '#', '\'', '"', '’', '年', '月', '日', '時', '时', '分', '秒', '号', '\t', '\n', '\u00a0']
    | replace(t, c, ' ')), ' ') WHERE t <> ''] ELSE [] END AS parts
WITH e, size(parts) > 0 AND all(t IN parts WHERE t IN $units
  OR t =~ '\\p{N}+(st|nd|rd|th|s|º|ª|er|ème|er|го|й)?'
  OR (t =~ '\\p{N}.*' AND any(u IN $units WHERE size(u) > 1 AND t ENDS WITH u AND left(t, size(t) - size(u)) =~ '\\p{N}+'))) AS numeric
WITH count(*) AS total, collect(CASE WHEN numeric THEN e END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS e
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, e, count(*) AS once
WITH total, count, e, @name(e) AS name, COUNT { (e)--() } AS links
ORDER BY links DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name, ''), 200),
   name: left(coalesce(name, ''), 200), kind: 'entity',
   type: @type(e)}],
  why: toString(links) + CASE links WHEN 1 THEN ' link' ELSE ' links' END
} END) AS sample
