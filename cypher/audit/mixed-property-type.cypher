// mixed-property-type: properties that hold values of several kinds within one entity type or one relation type.
// Integer and float count as one kind, number; an empty list fits every list.
//
// :param sample => 5                    -- INTEGER: examples to return
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (e:@Entity)
  UNWIND CASE WHEN toStringOrNull(e.@type_key) IS NOT NULL THEN [toStringOrNull(e.@type_key)]
    ELSE [l IN labels(e) WHERE NOT l IN @type_label_ignored] END AS owner
  UNWIND keys(e) AS key
  RETURN owner, key, valueType(e[key]) AS value, count(*) AS uses
  UNION ALL
  MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
  WHERE @is(r, RELATION)
  UNWIND keys(r) AS key
  RETURN type(r) AS owner, key, valueType(r[key]) AS value, count(*) AS uses
}
WITH owner, key, uses, replace(value, ' NOT NULL', '') AS kind
WITH owner, key, uses,
  CASE WHEN kind IN ['INTEGER', 'FLOAT'] THEN 'NUMBER'
    WHEN kind IN ['LIST<INTEGER>', 'LIST<FLOAT>'] THEN 'LIST<NUMBER>' ELSE kind END AS kind
WHERE kind <> 'LIST<NOTHING>'
WITH owner, key, kind, sum(uses) AS uses ORDER BY uses DESC, kind
WITH owner, key, collect({kind: kind, uses: uses}) AS kinds
WITH count(*) AS total, collect(CASE WHEN size(kinds) > 1 THEN {owner: owner, key: key, kinds: kinds} END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, hit, count(*) AS once
WITH total, count, hit
ORDER BY reduce(n = 0, k IN tail(hit.kinds) | n + k.uses) DESC, hit.owner, hit.key LIMIT $sample
RETURN count, total, collect(CASE WHEN hit IS NOT NULL THEN {
  items: [{element_id: null, key: left(hit.owner, 100) + '.' + left(hit.key, 100),
   name: left(hit.owner, 100) + '.' + left(hit.key, 100), type: left(hit.owner, 200), kind: 'property'}],
  why: reduce(t = '', k IN hit.kinds | t + CASE t WHEN '' THEN '' ELSE ', ' END + toString(k.uses) + ' ' + k.kind)
} END) AS sample
