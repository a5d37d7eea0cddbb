// leaked-output: entities whose name carries what a model wrote around names.
// Reasoning, a fence of code, JSON, a delimiter, emphasis, a mark of a list, quotation marks, a UUID, a template, a mark or bracket too many.
// Quotation marks around most names are how the writer keeps names (nano-graphrag), and no leak.
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
WITH e, @output(name) AS left_over
WITH count(*) AS total, sum(CASE WHEN left_over = 'quotation marks around it' THEN 1 ELSE 0 END) AS quoted,
  collect(CASE WHEN left_over IS NOT NULL THEN {e: e, why: left_over} END) AS hits
WITH total, [hit IN hits WHERE 2 * quoted <= total OR hit.why <> 'quotation marks around it'] AS hits
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
