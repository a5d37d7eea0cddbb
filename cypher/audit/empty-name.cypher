// empty-name: entities without a readable name.
// Nothing, blanks, or punctuation only; or a value that is not text (a list, a map of a point). Entities of a label that has ids and
// never a name (orders) are left out.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE NOT coalesce(head([n IN @label_names WHERE n.label IS NULL OR n.label IN labels(e) | n.is_id]), false)
  AND ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, @name(e) AS name
WITH e, coalesce(name, '') =~ '[\\s\\p{P}\\p{Z}\\p{C}&&[^!/]]*+' AS empty
WITH count(*) AS total, collect(CASE WHEN empty THEN e END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS e
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, e, count(*) AS once
WITH total, count, e, @name(e) AS name, @display(e) AS shown, COUNT { (e)--() } AS links
ORDER BY links DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), shown), 200),
   name: left(shown, 200), kind: 'entity',
   type: @type(e)}],
  why: CASE WHEN none(k IN @name_keys WHERE e[k] IS NOT NULL) THEN 'no name at all'
    WHEN name IS NULL THEN 'the name is not text'
    WHEN trim(name) = '' THEN 'the name is blank'
    ELSE 'the name is punctuation only' END
} END) AS sample
