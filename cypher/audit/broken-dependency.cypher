// broken-dependency: how many nodes and relations hold a value that goes against what stands with another one everywhere else: a town with
// another town's postal code, an ingredient in another unit, a cancelled flight with passengers, a number that is not its order's. The two
// are a node's, a relation's, or of the nodes at its start and end; no `first` means which node stands there. `part`: the value, the year
// or the letters it begins with, or the last part of a code in it, or whether there is one. `kind`: the first says what the last is, equals
// it, or is at most it; `only`: one value of the first. `among`: by value of the first what the others have, where things are to be listed.
//
// :param rules => [{at: 0, type: null, start: 'Address', end: null, first: 'zip', first_of: 'node', first_part: 'value', last: 'city', last_of: 'node', last_part: 'value', kind: 'says', only: null, among: {`=20095`: 'hamburg'}}] -- LIST OF MAP: what says what
// :param sample => 5                                                                       -- INTEGER: examples to return
//
// returns: at INTEGER, rows INTEGER, groups INTEGER, pure INTEGER, wrong INTEGER, told INTEGER, broken LIST OF LIST, ids LIST OF STRING, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(d IN $rules WHERE d.type IS NULL AND d.start = l))
  UNWIND [d IN $rules WHERE d.type IS NULL AND d.start IN labels(n)] AS d
  RETURN d, n, null AS r, n[d.first] AS first, CASE d.last_part
    WHEN 'outgoing' THEN CASE WHEN EXISTS { MATCH (n)-[r]->() WHERE type(r) = d.last } THEN true END
    WHEN 'incoming' THEN CASE WHEN EXISTS { MATCH (n)<-[r]-() WHERE type(r) = d.last } THEN true END
    ELSE n[d.last] END AS last
  UNION ALL
  WITH [d IN $rules WHERE d.type IS NOT NULL] AS rules
  WHERE NOT isEmpty(rules)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(d IN rules WHERE d.type = type(r)) AND a <> b
  UNWIND [d IN rules WHERE d.type = type(r) AND d.start IN labels(a) AND d.end IN labels(b)] AS d
  RETURN d, null AS n, r, CASE
      WHEN d.first IS NULL THEN CASE d.first_of WHEN 'start' THEN elementId(a) ELSE elementId(b) END
      WHEN d.first_of = 'start' THEN a[d.first] WHEN d.first_of = 'end' THEN b[d.first] ELSE r[d.first] END AS first,
    CASE
      WHEN d.last IS NULL THEN CASE d.last_of WHEN 'start' THEN elementId(a) ELSE elementId(b) END
      WHEN d.last_of = 'start' THEN a[d.last] WHEN d.last_of = 'end' THEN b[d.last] ELSE r[d.last] END AS last
}
WITH d, n, r, toLower(trim(toStringOrNull(first))) AS first, toLower(trim(toStringOrNull(last))) AS last,
  left(toStringOrNull(first), 40) AS first_shown, left(toStringOrNull(last), 40) AS last_shown
WITH d, n, r, first_shown, last_shown, CASE d.first_part
    WHEN 'presence' THEN toString(first IS NOT NULL)
    WHEN 'outgoing' THEN toString(first IS NOT NULL)
    WHEN 'incoming' THEN toString(first IS NOT NULL)
    WHEN 'year' THEN last([y IN split(replace(replace(replace(replace(first, '_', '-'), '/', '-'), '.', '-'), ' ', '-'), '-') WHERE y =~ '(19|20)\\d\\d'])
    WHEN 'letters' THEN CASE WHEN first =~ '(?s)[a-z]{1,6}[-_/. ]?\\d.*' THEN left(first, head([i IN range(1, 6) WHERE NOT substring(first, i, 1) =~ '[a-z]'])) END
    WHEN 'last part' THEN CASE WHEN first =~ '(?s).*[^-_/ ][-_/][^-_/ ]{1,8}' THEN last(split(replace(replace(first, '_', '-'), '/', '-'), '-')) END
    ELSE first END AS first,
  CASE d.last_part
    WHEN 'presence' THEN toString(last IS NOT NULL)
    WHEN 'outgoing' THEN toString(last IS NOT NULL)
    WHEN 'incoming' THEN toString(last IS NOT NULL)
    WHEN 'year' THEN last([y IN split(replace(replace(replace(replace(last, '_', '-'), '/', '-'), '.', '-'), ' ', '-'), '-') WHERE y =~ '(19|20)\\d\\d'])
    WHEN 'letters' THEN CASE WHEN last =~ '(?s)[a-z]{1,6}[-_/. ]?\\d.*' THEN left(last, head([i IN range(1, 6) WHERE NOT substring(last, i, 1) =~ '[a-z]'])) END
    WHEN 'last part' THEN CASE WHEN last =~ '(?s).*[^-_/ ][-_/][^-_/ ]{1,8}' THEN last(split(replace(replace(last, '_', '-'), '/', '-'), '-')) END
    ELSE last END AS last
WHERE first IS NOT NULL AND last IS NOT NULL AND (d.only IS NULL OR first = d.only)
WITH d, n, r, first_shown, last_shown, first, last, CASE d.kind
    WHEN 'says' THEN last
    WHEN 'equals' THEN toString(first = last)
    ELSE toString(toFloatOrNull(first) <= toFloatOrNull(last)) END AS with
WHERE with IS NOT NULL
WITH d, '=' + CASE d.kind WHEN 'says' THEN replace(first, '\u0000', '') ELSE '' END AS of, with, n, r, first, last, first_shown, last_shown
WITH d, of, with, count(*) AS times, max(last_shown) AS shown, collect(CASE WHEN d.among[of] <> with THEN {
  n: n, r: r, first: CASE WHEN d.first_part = 'value' THEN first_shown ELSE first + ' (' + first_shown + ')' END, last: last_shown} END) AS things
ORDER BY times DESC, with
WITH d, of, sum(times) AS rows, collect({with: with, times: times, shown: shown}) AS parts, collect(things) AS things
WHERE rows >= 3 AND (d.among IS NULL OR d.among[of] IS NOT NULL)
WITH d, of, rows, parts[0] AS usual, rows - parts[0].times AS against, things
// a group shows what goes with its value where several do, and few go against it
WITH d, of, rows, usual, against, things, usual.times >= 2 * against AND (d.kind = 'says' OR usual.with = 'true')
  AND usual.times >= CASE WHEN d.last_part IN ['presence', 'outgoing', 'incoming'] AND rows < 10 THEN rows + 1 ELSE 3 END AS shows
WITH d, sum(rows) AS rows, count(*) AS groups, sum(CASE WHEN against = 0 THEN 1 ELSE 0 END) AS pure, sum(against) AS wrong,
  sum(CASE WHEN shows THEN against ELSE 0 END) AS told,
  collect(CASE WHEN shows AND against > 0 THEN {of: of, usual: usual, rows: rows, things: things} END) AS broken
WITH d, rows, groups, pure, wrong, told, broken, COLLECT {
  UNWIND broken AS one
  UNWIND one.things AS part
  UNWIND part AS thing
  RETURN {n: thing.n, r: thing.r, first: thing.first, last: thing.last, usual: one.usual.times, of: one.rows, with: one.usual.with,
    known: CASE d.last_part WHEN 'value' THEN one.usual.shown ELSE one.usual.with END}
  LIMIT 1000
} AS hits
RETURN d.at AS at, rows, groups, pure, wrong, told, [one IN broken[0..1000] | [one.of, one.usual.with]] AS broken, [h IN hits | CASE
  WHEN h.n IS NOT NULL THEN elementId(h.n)
  WHEN d.kind = 'at most' OR d.last IS NULL OR NOT (d.first IS NULL OR d.first_of = 'relation') THEN elementId(h.r)
  WHEN d.last_of = 'start' THEN elementId(startNode(h.r)) WHEN d.last_of = 'end' THEN elementId(endNode(h.r)) ELSE elementId(h.r) END] AS ids, COLLECT {
  UNWIND hits AS h
  // what holds the value: the node where it is a node's, the relation where it leads to another node than the others
  WITH h, CASE
    WHEN d.kind = 'at most' OR d.last IS NULL OR NOT (d.first IS NULL OR d.first_of = 'relation') THEN null
    WHEN d.last_of = 'start' THEN startNode(h.r) WHEN d.last_of = 'end' THEN endNode(h.r) END AS at
  WITH h, coalesce(h.n, at) AS n, CASE WHEN at IS NULL THEN h.r END AS r, CASE d.first_of WHEN 'start' THEN startNode(h.r) ELSE endNode(h.r) END AS x,
    CASE d.last_of WHEN 'start' THEN startNode(h.r) ELSE endNode(h.r) END AS y
  OPTIONAL MATCH (z:@Node)
  WHERE d.last IS NULL AND elementId(z) = h.with
  WITH h, n, r, CASE WHEN d.first IS NULL THEN left(@display(x), 60) ELSE d.first + ' ' + h.first END AS first,
    CASE WHEN d.last IS NULL THEN left(@display(y), 60) ELSE coalesce(h.last, '') END AS last,
    CASE WHEN d.last IS NULL THEN left(@display(z), 60) ELSE coalesce(h.known, '') END AS known, CASE
    WHEN r IS NULL THEN left(@display(n), 200)
    ELSE left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200)
  END AS name
  ORDER BY name, coalesce(elementId(n), elementId(r))
  LIMIT $sample
  RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
    kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}],
    why: CASE
      WHEN d.kind = 'at most' THEN first + ', ' + d.last + ' ' + last + ': at most that on ' + h.usual + ' of ' + h.of
      WHEN d.kind = 'equals' THEN first + ', ' + d.last + ' ' + last + ': the same on ' + h.usual + ' of ' + h.of
      WHEN NOT d.last_part IN ['presence', 'outgoing', 'incoming']
        THEN CASE d.last_part WHEN 'value' THEN coalesce(d.last + ' ', '') ELSE d.last_part + ' of ' + d.last + ' ' END + last + ', where ' + h.usual + ' of ' + h.of + ' with ' + first + ' have ' + known
      WHEN h.last IS NULL THEN first + ', and no ' + d.last + ', which ' + h.usual + ' of ' + h.of + ' such have'
      ELSE first + ', and ' + d.last + CASE d.last_part WHEN 'presence' THEN ' ' + last ELSE '' END
        + ', which ' + h.usual + ' of ' + h.of + ' such have not' END}
} AS sample
ORDER BY at
