// repeated-days: of properties that hold dates, how often each of some days stands there, and what the others are: how many, of how
// many values, how often the most frequent of them does, how many are the first of a January, the first and the last of them. A date-time counts as its day where it is
// midnight, else with its time; 31.12.2099 and 1/1/1900 are read as well.
//
// :param suspects => [{label: 'Member', key: 'born'}] -- LIST OF MAP: properties of labels, or of types ({type, key})
// :param days => ['1900-01-01']                       -- LIST OF STRING: the days that are looked for
//
// returns: at INTEGER, found LIST OF MAP, others INTEGER, values INTEGER, most INTEGER, januaries INTEGER, least STRING, greatest STRING
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  WITH n, labels(n) AS known
  UNWIND [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IN known] AS at
  RETURN at, n[$suspects[at].key] AS value
  UNION ALL
  WITH [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IS NULL] AS places
  WHERE NOT isEmpty(places)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(i IN places WHERE $suspects[i].type = type(r))
  UNWIND [i IN places WHERE $suspects[i].type = type(r)] AS at
  RETURN at, r[$suspects[at].key] AS value
}
WITH at, left(trim(toStringOrNull(value)), 40) AS text
WHERE text IS NOT NULL
WITH at, CASE
  WHEN text =~ '\\d{4}-\\d{2}-\\d{2}([T ]00:00(:00([.]0*)?)?(Z|[+-]\\d\\d:?\\d\\d.*|\\[.*)?)?' THEN left(text, 10)
  WHEN text =~ '\\d{4}-\\d{2}-\\d{2}[T ].*' THEN left(text, 19)
  WHEN text =~ '\\d{1,2}[./]\\d{1,2}[./]\\d{4}( 00:00(:00)?)?' THEN
    [p IN [split(replace(left(text, 10), '/', '.'), '.')] |
      CASE WHEN toInteger(p[1]) > 12 THEN left(p[2], 4) + '-' + right('0' + p[0], 2) + '-' + right('0' + p[1], 2)
        ELSE left(p[2], 4) + '-' + right('0' + p[1], 2) + '-' + right('0' + p[0], 2) END][0]
END AS day
WHERE day IS NOT NULL
WITH at, day, count(*) AS times
WITH at, day, times, day IN $days AS is_asked
RETURN at, collect(CASE WHEN is_asked THEN {day: day, times: times} END) AS found,
  sum(CASE WHEN is_asked THEN 0 ELSE times END) AS others, sum(CASE WHEN is_asked THEN 0 ELSE 1 END) AS values,
  max(CASE WHEN NOT is_asked THEN times END) AS most,
  sum(CASE WHEN NOT is_asked AND day ENDS WITH '-01-01' THEN times ELSE 0 END) AS januaries,
  min(CASE WHEN NOT is_asked THEN day END) AS least, max(CASE WHEN NOT is_asked THEN day END) AS greatest
ORDER BY at
