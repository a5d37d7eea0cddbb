// sentence-entity: entities whose name is as long as a sentence.
// More words or more characters than a name has; titles of documents, laws, societies and the like are left out.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param max_words => 12                -- INTEGER: a name may have so many words
// :param max_characters => 100          -- INTEGER: a name may have so many characters
// :param titled => ['document']         -- LIST OF STRING: words in types of what is called by a title
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, @name(e) AS name, split(replace(replace(toLower(coalesce(@type(e), '')), '_', ' '), '-', ' '), ' ') AS type
// a title has capitals, or is all of them
WITH e, CASE WHEN any(word IN type WHERE word IN $titled) AND NOT name =~ '(?s)(?:.*\\W)?\\p{Ll}{5,}.*' THEN '' ELSE name END AS name
WITH e, size(name) AS characters,
  CASE WHEN size(name) <= $max_characters THEN size([w IN split(name, ' ') WHERE trim(w) <> '']) ELSE 0 END AS words
WITH e, characters > $max_characters OR words > $max_words AS long
WITH count(*) AS total, collect(CASE WHEN long THEN e END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS e
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, e, count(*) AS once
WITH total, count, e, @name(e) AS name, COUNT { (e)--() } AS links
ORDER BY size(name) DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name, ''), 200),
   name: left(coalesce(name, ''), 200), kind: 'entity',
   type: @type(e)}],
  why: CASE WHEN size(name) > $max_characters THEN toString(size(name)) + ' characters'
    ELSE toString(size([w IN split(name, ' ') WHERE trim(w) <> ''])) + ' words' END
} END) AS sample
