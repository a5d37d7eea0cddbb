// keyword-list-type: relation labels that are lists of keywords and used hardly ever.
// Written by an extractor that gives each relation a few keywords of its own: no two relations share a label, and none can be asked for.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param max_uses => 2                  -- INTEGER: relations of such a label at most
// :param min_labels => 20               -- INTEGER: graphs with fewer labels are left out
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH @label(r) AS label, count(*) AS uses
WITH label, uses, [k IN split(replace(replace(replace(replace(label, '<SEP>', ','), ';', ','), '|', ','), '、', ','), ',') WHERE trim(k) <> ''] AS words
WITH label, uses, uses <= $max_uses AND size(words) >= 2 AND all(k IN words WHERE size(split(trim(k), ' ')) <= 5) AS hit
WITH count(*) AS total, collect(CASE WHEN hit THEN {label: label, uses: uses} END) AS found
WITH total, CASE WHEN total >= $min_labels THEN found ELSE [] END AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
ORDER BY hit.uses DESC, hit.label LIMIT $sample
RETURN count, total, collect(CASE WHEN hit IS NOT NULL THEN {
  items: [{element_id: null, key: left(hit.label, 200), name: left(hit.label, 200), type: null, kind: 'type'}],
  why: toString(hit.uses) + CASE hit.uses WHEN 1 THEN ' relation' ELSE ' relations' END
} END) AS sample
