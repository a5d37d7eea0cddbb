// generic-entity: entities named by a common noun that points to nobody in particular.
// "The man", "company", "team": the noun alone, or after one leading article or the like.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param generic => ['man', 'company', 'team'] -- LIST OF STRING: common nouns in lower case
// :param articles => ['the', 'a', 'an'] -- LIST OF STRING: articles and the like, in lower case
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, @name(e) AS name
WITH e, left(replace(toLower(trim(normalize(name, NFKC))), 'ß', 'ss'), 60) AS folded
WITH e, folded, split(folded, ' ') AS words
WITH e, folded IN $generic 
  OR (size(words) > 1 AND words[0] IN $articles AND trim(substring(folded, size(words[0]))) IN $generic) AS generic
WITH count(*) AS total, collect(CASE WHEN generic THEN e END) AS hits
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
