// inverted-interval: relations whose validity ends before it begins.
// `count` and `sample` are those that can be told here. `candidates` holds those whose two times are of different types or are
// text of different forms; the audit compares their instants exactly and adds them.
//
// :param sample => 5              -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP, candidates LIST OF MAP
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE r.@valid_from_key IS NOT NULL AND r.@valid_to_key IS NOT NULL
  AND @is(r, RELATION)
WITH r, r.@valid_from_key AS start, r.@valid_to_key AS end
WITH r, CASE
  WHEN start IS :: LIST<ANY> OR end IS :: LIST<ANY> OR start IS :: BOOLEAN OR end IS :: BOOLEAN THEN 'no'
  WHEN start IS :: STRING AND end IS :: STRING AND size(start) = size(end) AND size(start) < 40
    AND start =~ '\\d{4}-\\d\\d-\\d\\d([T ][0-9:.]*Z?)?' AND end =~ '\\d{4}-\\d\\d-\\d\\d([T ][0-9:.]*Z?)?'
    THEN CASE WHEN start > end THEN 'yes' ELSE 'no' END
  WHEN start IS :: STRING OR end IS :: STRING OR (start > end) IS NULL THEN CASE
    WHEN start IS :: INTEGER OR start IS :: FLOAT OR end IS :: INTEGER OR end IS :: FLOAT THEN 'maybe'
    WHEN left(toStringOrNull(start), 10) >= left(toStringOrNull(end), 10) THEN 'maybe'
    ELSE 'no' END
  WHEN start > end THEN 'yes'
  ELSE 'no'
END AS inverted
WITH count(*) AS total, collect(CASE inverted WHEN 'yes' THEN r END) AS hits, collect(CASE inverted WHEN 'maybe' THEN r END) AS unsure
RETURN size(hits) AS count, total, COLLECT {
  UNWIND hits AS r
  WITH r, toStringOrNull(r.@valid_from_key) AS start, toStringOrNull(r.@valid_to_key) AS end
  ORDER BY start, elementId(r)
  LIMIT $sample
  WITH r, start, end, left(@label(r), 200) AS label
  WITH r, label, start, end, left(@display(startNode(r)), 200) + ' -[' + label + ']-> ' + left(@display(endNode(r)), 200) AS name
  RETURN {items: [{element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}], why: 'valid from ' + left(start, 40) + ' to ' + left(end, 40)}
} AS sample, COLLECT {
  UNWIND unsure AS r
  WITH r, toStringOrNull(r.@valid_from_key) AS start, toStringOrNull(r.@valid_to_key) AS end, left(@label(r), 200) AS label
  WITH r, label, start, end, left(@display(startNode(r)), 200) + ' -[' + label + ']-> ' + left(@display(endNode(r)), 200) AS name
  RETURN {item: {element_id: elementId(r), key: name, name: name, type: label, kind: 'relation'}, start: left(start, 80), end: left(end, 80)}
} AS candidates
