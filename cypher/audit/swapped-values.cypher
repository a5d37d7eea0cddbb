// swapped-values: how many nodes have two numbers that lie far from those of the others, and among them once they are swapped; of places
// (a latitude and a longitude, or a point) also those that do with the other sign, and those at 0/0. Where the others lie is measured on
// every so manieth node (`every`) by the quarters of their values.
//
// :param pairs => [{label: 'Port', first: 'lat', last: 'lon', is_place: true, every: 1}] -- LIST OF MAP: two properties of a label
// :param sample => 5                                                                    -- INTEGER: examples to return
//
// returns: at INTEGER, judged INTEGER, hits INTEGER, zeros INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(p IN $pairs WHERE p.label = l))
  WITH n, labels(n) AS known, toInteger(last(split(elementId(n), ':'))) AS id
  UNWIND [i IN range(0, size($pairs) - 1) WHERE $pairs[i].label IN known AND id % $pairs[i].every = 0] AS at
  WITH at, n[$pairs[at].first] AS first, n[$pairs[at].last] AS last
  WITH at, CASE WHEN first IS :: POINT NOT NULL THEN first.y ELSE toFloatOrNull(toStringOrNull(first)) END AS x,
    CASE WHEN last IS :: POINT NOT NULL THEN last.x ELSE toFloatOrNull(toStringOrNull(last)) END AS y
  WHERE x IS NOT NULL AND y IS NOT NULL
  WITH at, percentileCont(x, 0.25) AS x_low, percentileCont(x, 0.75) AS x_high, percentileCont(y, 0.25) AS y_low,
    percentileCont(y, 0.75) AS y_high
  RETURN collect({at: at, x: (x_low + x_high) / 2, y: (y_low + y_high) / 2, width: x_high - x_low, height: y_high - y_low}) AS usual
}
MATCH (n:@Node)
WHERE any(l IN labels(n) WHERE any(p IN $pairs WHERE p.label = l))
WITH n, usual, labels(n) AS known
UNWIND [u IN usual WHERE $pairs[u.at].label IN known] AS u
WITH u, $pairs[u.at] AS p, n, n[$pairs[u.at].first] AS first, n[$pairs[u.at].last] AS last
WITH u, p, n, CASE WHEN NOT first IS :: POINT THEN [toStringOrNull(first), toStringOrNull(last)] END AS texts, CASE WHEN first IS :: POINT NOT NULL THEN first.y ELSE toFloatOrNull(toStringOrNull(first)) END AS x,
  CASE WHEN last IS :: POINT NOT NULL THEN last.x ELSE toFloatOrNull(toStringOrNull(last)) END AS y
WHERE x IS NOT NULL AND y IS NOT NULL
// far: more than three and a half times the width of the middle half from its middle; near: at most twice
WITH u, p, n, texts, x, y, CASE WHEN p.is_place AND u.width < 0.02 THEN 0.02 ELSE u.width END AS w,
  CASE WHEN p.is_place AND u.height < 0.02 THEN 0.02 ELSE u.height END AS h
WITH u, p, n, texts, x, y, w, h, abs(x - u.x) > 3.5 * w AS x_far, abs(y - u.y) > 3.5 * h AS y_far
WITH u, p, n, texts, x, y, CASE
  WHEN p.is_place AND x = 0 AND y = 0 THEN 'zero'
  WHEN p.is_place AND (abs(x) > 90 OR NOT (x_far OR y_far)) THEN null
  WHEN NOT p.is_place AND NOT (x_far AND y_far AND w > 0 AND h > 0) THEN null
  WHEN abs(y - u.x) <= 2 * w AND abs(x - u.y) <= 2 * h THEN 'swapped'
  WHEN NOT p.is_place OR w > 2.5 OR h > 2.5 THEN null
  WHEN abs(-x - u.x) <= 2 * w AND abs(y - u.y) <= 2 * h THEN 'first'
  WHEN abs(x - u.x) <= 2 * w AND abs(-y - u.y) <= 2 * h THEN 'last'
END AS kind
WITH u, p, count(*) AS judged, sum(CASE kind WHEN 'zero' THEN 1 ELSE 0 END) AS zeros,
  sum(CASE WHEN abs(x) < 3 AND abs(y) < 3 AND kind IS NULL THEN 1 ELSE 0 END) AS close,
  collect(CASE WHEN kind IS NOT NULL THEN {n: n, texts: coalesce(texts, [toString(x), toString(y)]), kind: kind} END) AS hits
WITH u, p, judged, zeros, close, [hit IN hits WHERE hit.kind <> 'zero' OR (close = 0 AND zeros <= 1 + judged / 10)] AS hits
RETURN u.at AS at, judged, size(hits) AS hits, size([hit IN hits WHERE hit.kind = 'zero']) AS zeros, COLLECT {
  UNWIND hits AS hit
  WITH hit, hit.n AS n, left(coalesce(@shown(hit.n), ''), 200) AS name
  ORDER BY name, elementId(n)
  LIMIT $sample
  RETURN {items: [{element_id: elementId(n), key: name, name: name, type: @type(n), kind: 'entity'}], why: CASE WHEN p.first = p.last
    THEN p.first + ' ' + hit.texts[0] + ' ' + hit.texts[1]
    ELSE p.first + ' ' + left(hit.texts[0], 40) + ', ' + p.last + ' ' + left(hit.texts[1], 40) END + CASE hit.kind
      WHEN 'zero' THEN ': no other of these lies near 0/0'
      WHEN 'swapped' THEN ': far from the others, and among them when swapped'
      ELSE ': far from the others, and among them with the other sign of the ' + hit.kind END}
} AS sample
ORDER BY at
