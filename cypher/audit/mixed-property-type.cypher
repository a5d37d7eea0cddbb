// mixed-property-type: properties that hold values of several kinds within one entity type or one relation type.
// Integer and float count as one kind, number; an empty list fits every list.
// The rarer kinds are named with the nodes or relations that have them.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param shown => 5                     -- INTEGER: values of the rarer kinds that are named, of each
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
WITH total, count, collect(hit) AS hits
CALL (hits) {
  CALL (hits) {
    WITH hits
    WHERE NOT isEmpty(hits)
    MATCH (e:@Entity)
    UNWIND range(0, size(hits) - 1) AS at
    WITH e, at, hits[at].key AS key, hits[at].owner AS owner
    WHERE e[key] IS NOT NULL AND owner IN CASE WHEN toStringOrNull(e.@type_key) IS NOT NULL THEN [toStringOrNull(e.@type_key)]
      ELSE [l IN labels(e) WHERE NOT l IN @type_label_ignored] END
    RETURN at, e AS n, null AS r, e[key] AS value
    UNION ALL
    WITH hits
    WHERE NOT isEmpty(hits)
    MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
    WHERE @is(r, RELATION)
    UNWIND range(0, size(hits) - 1) AS at
    WITH r, at, hits[at].key AS key, hits[at].owner AS owner
    WHERE type(r) = owner AND r[key] IS NOT NULL
    RETURN at, null AS n, r, r[key] AS value
  }
  WITH hits, at, n, r, value, replace(valueType(value), ' NOT NULL', '') AS kind
  WITH hits, at, n, r, value, CASE WHEN kind IN ['INTEGER', 'FLOAT'] THEN 'NUMBER'
    WHEN kind IN ['LIST<INTEGER>', 'LIST<FLOAT>'] THEN 'LIST<NUMBER>' ELSE kind END AS kind
  WHERE kind <> hits[at].kinds[0].kind AND kind <> 'LIST<NOTHING>'
  WITH at, n, r, CASE WHEN valueType(value) STARTS WITH 'LIST' THEN '[' + size(value) + ' items]'
    ELSE "'" + left(coalesce(toStringOrNull(value), valueType(value)), 30) + "'" END AS text
  // most of them are never shown: a mixture half and half is told by its counts
  LIMIT 10000
  WITH at, text, CASE
    WHEN r IS NULL THEN left(@display(n), 60)
    ELSE left(@display(startNode(r)), 60) + ' -[' + type(r) + ']-> ' + left(@display(endNode(r)), 60)
  END AS name
  ORDER BY at, name, text
  WITH at, collect(text + ' (' + name + ')')[0..$shown] AS named
  RETURN collect({at: at, named: named}) AS rare
}
RETURN count, total, [at IN range(0, size(hits) - 1) | {
  items: [{element_id: null, key: left(hits[at].owner, 100) + '.' + left(hits[at].key, 100),
   name: left(hits[at].owner, 100) + '.' + left(hits[at].key, 100), type: left(hits[at].owner, 200), kind: 'property'}],
  why: reduce(t = '', k IN hits[at].kinds | t + CASE t WHEN '' THEN '' ELSE ', ' END + toString(k.uses) + ' ' + k.kind) + reduce(t = '',
    name IN coalesce(head([one IN rare WHERE one.at = at | one.named]), []) | t + CASE t WHEN '' THEN ': ' ELSE ', ' END + name)
}] AS sample
