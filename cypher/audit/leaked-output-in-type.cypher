// leaked-output-in-type: types of entities and labels of relations that carry what a model wrote around them, or markup.
// Quotation marks, a delimiter, JSON, reasoning, a bracket too many, a UUID; the most used first.
// Quotation marks around most of them are how the writer keeps types (nano-graphrag), and no leak.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param max_words => 12                -- INTEGER: words of a label, above which it is a sentence
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (e:@Entity)
  WITH @type(e) AS label, count(*) AS uses
  RETURN label, uses, CASE uses WHEN 1 THEN ' entity' ELSE ' entities' END AS things
  UNION ALL
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE @is(r, RELATION)
  WITH @label(r) AS label, count(*) AS uses
  RETURN label, uses, CASE uses WHEN 1 THEN ' relation' ELSE ' relations' END AS things
}
WITH label, uses, things
WHERE label IS NOT NULL AND label <> ''
WITH label, uses, things, CASE
  WHEN size(split(trim(label), ' ')) > $max_words AND NOT label CONTAINS ',' AND NOT label CONTAINS ';' THEN 'a sentence'
  ELSE coalesce(@output(label), @markup(label))
END AS left_over
WITH count(*) AS total, sum(CASE WHEN left_over = 'quotation marks around it' THEN 1 ELSE 0 END) AS quoted,
  collect(CASE WHEN left_over IS NOT NULL THEN {label: label, uses: uses, things: things, why: left_over} END) AS hits
WITH total, [hit IN hits WHERE 2 * quoted <= total OR hit.why <> 'quotation marks around it'] AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
ORDER BY hit.uses DESC, hit.label LIMIT $sample
RETURN count, total, collect(CASE WHEN hit IS NOT NULL THEN {
  items: [{element_id: null, key: left(hit.label, 200), name: left(hit.label, 200), type: null, kind: 'type'}],
  why: hit.why + ', on ' + toString(hit.uses) + hit.things
} END) AS sample
