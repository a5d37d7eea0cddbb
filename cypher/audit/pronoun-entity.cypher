// pronoun-entity: entities whose whole name is a pronoun.
// A pronoun joins facts of whoever it stood for in each text. A name in capitals (US, IT, WHO) is taken for an acronym,
// unless most names of the graph are in capitals; there only the words of $acronyms are spared.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param pronouns => ['he', 'she', 'it', 'us'] -- LIST OF STRING: pronouns in lower case
// :param acronyms => ['us', 'it']       -- LIST OF STRING: pronouns that are acronyms too
// :param capitals_share => 0.5          -- FLOAT: from this share on, the graph's names are taken to be all in capitals
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, @name(e) AS name
WITH e, left(trim(normalize(name, NFKC)), 60) AS short
WITH e, toLower(short) AS folded, size(short) > 1 AND short = toUpper(short) AND short <> toLower(short) AS capitals
WITH count(*) AS total, sum(CASE WHEN capitals THEN 1 ELSE 0 END) AS in_capitals,
     collect(CASE WHEN folded IN $pronouns THEN {e: e, capitals: capitals, acronym: folded IN $acronyms} END) AS found
WITH total, in_capitals > total * $capitals_share AS all_in_capitals, found
WITH total, [x IN found WHERE NOT x.capitals OR (all_in_capitals AND NOT x.acronym) | x.e] AS hits
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
