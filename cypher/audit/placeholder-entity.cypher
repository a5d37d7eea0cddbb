// placeholder-entity: entities whose name or type is a placeholder.
// What an extractor or a writer puts where it knew nothing: unknown, n/a, manual_creation, entity 1, <name>; and the
// layout's own placeholder values, in the name or in the type.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param placeholders => ['unknown', 'n/a', 'none'] -- LIST OF STRING: names that stand for nothing, in lower case
// :param doubted => ['tbc']             -- LIST OF STRING: the same, but for things that can be called so (a disease, a bank)
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, @name(e) AS name
WITH e, left(replace(toLower(trim(normalize(name, NFKC))), 'ß', 'ss'), 60) AS folded,
  toLower(@type(e)) AS type,
  [v IN @placeholder_values | toLower(v)] AS written
WITH e, folded IN $placeholders OR folded IN written OR type IN written
  OR folded IN $doubted AND NOT coalesce(type, '') =~
    '.*(diseas|disorder|condition|diagnos|infect|illness|symptom|medic|gene|protein|compan|organi|bank|brand|channel|' +
    'broadcast|acronym|abbrev|term|concept|code|product|airport|krank|malad|enferm).*'
  OR folded =~ 'x{4,}'
  OR folded =~ '(entity|node|item|object|placeholder|unnamed|untitled|unknown|dummy' +
    '|entidad|entité|entität|сущность|实体|エンティティ)[ _#-]*\\p{N}+'
  OR folded =~ '<[\\p{L}_ ]+>|\\{[\\p{L}_ ]+\\}|\\[(name|entity|unknown|redacted)\\]' AS placeholder
WITH count(*) AS total, collect(CASE WHEN placeholder THEN e END) AS hits
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
  why: CASE WHEN toLower(@type(e))
    IN [v IN @placeholder_values | toLower(v)]
    THEN 'the type is a placeholder; ' ELSE '' END + toString(links) + CASE links WHEN 1 THEN ' link' ELSE ' links' END
} END) AS sample
