// broken-sum: how many nodes and relations keep a rule of numbers (a total is the product or the sum of others, or a sum or count over the
// relations of a node), and which break it clearly, by more than three times what rounding explains. `on`: 'node', 'relation', or 'group'
// (all relations of a node of label `start` with nodes of label `end`). `is_limit`: the total is never less.
//
// :param rules => [{at: 0, on: 'relation', type: 'FOR', start: 'Booking', end: 'Course', out: true, total: 'amount', total_of: 'start', constant: null, adds: false, operands: [{side: 'start', key: 'people', form: 'plain', optional: false, before: 'people ', after: ''}, {side: 'end', key: 'price', form: 'plain', optional: false, before: ' * price ', after: ''}], unit: 0.01, is_limit: false, says: ''}] -- LIST OF MAP: what adds up
// :param sample => 5 -- INTEGER: examples to return
//
// returns: at INTEGER, rows INTEGER, kept INTEGER, hits INTEGER, ids LIST OF STRING, sample LIST OF MAP
// mode: read
CALL () {
  CALL () {
    MATCH (n:@Node)
    WHERE any(l IN labels(n) WHERE any(d IN $rules WHERE d.on = 'node' AND d.start = l))
    UNWIND [d IN $rules WHERE d.on = 'node' AND d.start IN labels(n)] AS d
    RETURN d, n, null AS r, n[d.total] AS total, [p IN d.operands | n[p.key]] AS values
    UNION ALL
    WITH [d IN $rules WHERE d.on = 'relation'] AS rules
    WHERE NOT isEmpty(rules)
    MATCH (a:@Node)-[r]->(b:@Node)
    WHERE any(d IN rules WHERE d.type = type(r)) AND a <> b
    UNWIND [d IN rules WHERE d.type = type(r) AND d.start IN labels(a) AND d.end IN labels(b)] AS d
    RETURN d, null AS n, r, CASE d.total_of WHEN 'start' THEN a[d.total] WHEN 'end' THEN b[d.total] ELSE r[d.total] END AS total,
      [p IN d.operands | CASE p.side WHEN 'start' THEN a[p.key] WHEN 'end' THEN b[p.key] ELSE r[p.key] END] AS values
  }
  WITH d, n, r, total, values, [v IN values | CASE
    WHEN v IS :: INTEGER OR v IS :: FLOAT THEN toFloat(v)
    WHEN v IS :: STRING AND v =~ '\\s*[+-]?(0|[1-9]\\d{0,14})([.]\\d{1,15})?\\s*' THEN toFloat(trim(v))
    WHEN v IS :: STRING AND v =~ '\\s*\\d{1,6}\\s*/\\s*0*[1-9]\\d{0,5}\\s*' THEN toFloat(trim(split(v, '/')[0])) / toFloat(trim(split(v, '/')[1]))
    END] AS x
  WITH d, n, r, total, values, [i IN range(0, size(x) - 1) | CASE
    WHEN x[i] IS NULL THEN CASE WHEN d.operands[i].optional AND values[i] IS NULL THEN CASE WHEN d.adds THEN 0.0 ELSE 1.0 END END
    ELSE CASE d.operands[i].form WHEN 'minus' THEN -x[i] WHEN 'percent' THEN x[i] / 100 WHEN 'more' THEN 1 + x[i] / 100
      WHEN 'less' THEN 1 - x[i] / 100 WHEN 'more share' THEN 1 + x[i] WHEN 'less share' THEN 1 - x[i] ELSE x[i] END END] AS x
  RETURN d, n, r, total, size(x) AS terms, CASE WHEN d.adds THEN reduce(s = 0.0, y IN x | s + y) ELSE reduce(s = 1.0, y IN x | s * y) END AS due,
    reduce(text = '', i IN range(0, size(x) - 1) |
      text + d.operands[i].before + left(coalesce(toStringOrNull(values[i]), 'none'), 40) + d.operands[i].after) AS said
  UNION ALL
  WITH [d IN $rules WHERE d.on = 'group'] AS rules
  WHERE NOT isEmpty(rules)
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(d IN rules WHERE d.start = l))
  UNWIND [d IN rules WHERE d.start IN labels(n)] AS d
  CALL (n, d) {
    OPTIONAL MATCH (n)-[r]-(o:@Node)
    WHERE type(r) = d.type AND o <> n AND (startNode(r) = n) = d.out AND d.end IN labels(o)
    WITH d, r, [v IN [p IN d.operands | CASE p.side WHEN 'relation' THEN r[p.key] ELSE o[p.key] END] | CASE
      WHEN v IS :: INTEGER OR v IS :: FLOAT THEN toFloat(v)
      WHEN v IS :: STRING AND v =~ '\\s*[+-]?(0|[1-9]\\d{0,14})([.]\\d{1,15})?\\s*' THEN toFloat(trim(v))
      WHEN v IS :: STRING AND v =~ '\\s*\\d{1,6}\\s*/\\s*0*[1-9]\\d{0,5}\\s*' THEN toFloat(trim(split(v, '/')[0])) / toFloat(trim(split(v, '/')[1]))
      END] AS x
    WITH r, reduce(s = 1.0, i IN range(0, size(x) - 1) | s * CASE
      WHEN x[i] IS NULL THEN CASE WHEN d.operands[i].optional THEN 1.0 END
      ELSE CASE d.operands[i].form WHEN 'percent' THEN x[i] / 100 WHEN 'more' THEN 1 + x[i] / 100
        WHEN 'less' THEN 1 - x[i] / 100 WHEN 'more share' THEN 1 + x[i] WHEN 'less share' THEN 1 - x[i] ELSE x[i] END END) AS part
    RETURN count(r) AS terms, count(CASE WHEN r IS NOT NULL THEN part END) AS told, sum(CASE WHEN r IS NOT NULL THEN part END) AS due
  }
  WITH d, n, terms, due WHERE told = terms AND (terms > 0 OR (isEmpty(d.operands) AND NOT d.is_limit))
  RETURN d, n, null AS r, coalesce(d.constant, n[d.total]) AS total, terms, toFloat(due) AS due,
    CASE WHEN isEmpty(d.operands) THEN 'number of ' + d.type
      ELSE 'sum of ' + d.says + ' over ' + terms + ' ' + d.type END AS said
}
WITH d, n, r, total, terms, due, said, CASE
  WHEN total IS :: INTEGER OR total IS :: FLOAT THEN toFloat(total)
  WHEN total IS :: STRING AND total =~ '\\s*[+-]?(0|[1-9]\\d{0,14})([.]\\d{1,15})?\\s*' THEN toFloat(trim(total)) END AS x
WHERE x IS NOT NULL AND due IS NOT NULL AND (x <> 0 OR (isEmpty(d.operands) AND NOT d.is_limit))
WITH d, n, r, total, due, said, x, CASE WHEN d.is_limit THEN due - x ELSE abs(x - due) END AS off, 1e-9 * abs(x) + 1e-9 +
  CASE WHEN isEmpty(d.operands) THEN 0.0 WHEN d.unit * (1 + 0.5 * terms) < 0.005 * abs(x) THEN d.unit * (1 + 0.5 * terms) ELSE 0.005 * abs(x) END AS most
WITH d, count(*) AS rows, sum(CASE WHEN off <= most THEN 1 ELSE 0 END) AS kept, sum(CASE WHEN off > 3 * most THEN 1 ELSE 0 END) AS hits,
  collect(CASE WHEN off > 3 * most THEN {n: n, r: r, total: total, due: due, said: said} END)[0..1000] AS some
RETURN d.at AS at, rows, kept, hits, [h IN some | coalesce(elementId(h.n), elementId(h.r))] AS ids, COLLECT {
  UNWIND some AS h
  WITH h, h.n AS n, h.r AS r, toString(round(h.due, 4)) AS due
  WITH h, n, r, CASE WHEN due ENDS WITH '.0' THEN left(due, size(due) - 2) ELSE due END AS due, CASE
    WHEN r IS NULL THEN left(@display(n), 200)
    ELSE left(@display(startNode(r)), 200) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 200)
  END AS name
  ORDER BY name, coalesce(elementId(n), elementId(r))
  LIMIT $sample
  RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
    kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}],
    why: CASE WHEN d.constant IS NOT NULL THEN h.said + ' is ' + due + ', not ' + toString(toInteger(d.constant))
      ELSE d.total + ' ' + left(toString(h.total), 40) + CASE WHEN d.is_limit THEN ', less than the ' ELSE ', but ' END + h.said
        + CASE WHEN d.on = 'group' AND d.is_limit THEN ', ' ELSE ' = ' END + due END}
} AS sample
ORDER BY at
