// merge-entities: merges entities that are one thing: relations, links, sources and properties go over to the one that is kept.
// Only for graphs that a writer extracted from texts: elsewhere two things may bear one name. Needs no APOC. Nothing is lost: where a
// property differs, a copy's value goes into the list former_KEY (as text, where values of several types meet there; its labels into
// former_labels), another name also becomes an alias, where the graph keeps aliases; relations that are the same in everything become
// one (joined); a relation between two of a group becomes one of the kept one to itself. A group is left out, and counted, where two of
// it differ in a property that a constraint declares unique (and that tells), or where another group has one of them, too.
//
// :param groups => [['4:...:1', '4:...:2']] -- LIST OF LIST OF STRING: entities that are one thing; the first of each stays
// :param unique => [{on: 'Ship', properties: ['id'], tells: true}] -- LIST OF MAP: what constraints declare unique, as kgeval fills it in
//
// returns: groups INTEGER, left_out INTEGER, merged INTEGER, moved INTEGER, joined INTEGER, taken INTEGER, former INTEGER
// mode: write
CALL () {
  UNWIND range(0, size($groups) - 1) AS at
  UNWIND $groups[at] AS id
  WITH DISTINCT at, id
  WITH id, count(*) AS times WHERE times > 1
  RETURN collect(id) AS twice
}
UNWIND $groups AS ids
CALL (ids) {
  UNWIND range(0, size(ids) - 1) AS at
  MATCH (e:@Entity)
  WHERE elementId(e) = ids[at]
  WITH e, min(at) AS at ORDER BY at
  RETURN collect(e) AS members
}
WITH twice, ids, members
WHERE size(members) > 1
WITH members, any(id IN ids WHERE id IN twice)
  OR any(k IN reduce(told = [], u IN $unique | told + CASE WHEN u.tells THEN u.properties ELSE [] END)
    WHERE any(m IN members WHERE any(o IN members WHERE coalesce(m[k] <> o[k], false)))) AS apart
WITH collect(CASE WHEN NOT apart THEN {keep: head(members), copies: tail(members)} END) AS groups,
  sum(CASE WHEN apart THEN 1 ELSE 0 END) AS left_out
CALL (groups) {
  UNWIND groups AS g
  UNWIND g.copies AS copy
  WITH copy, g.keep AS keep
  MATCH (copy)-[r]-()
  WITH r, collect({copy: copy, keep: keep}) AS ends
  WITH r, coalesce(head([x IN ends WHERE x.copy = startNode(r) | x.keep]), startNode(r)) AS source,
    coalesce(head([x IN ends WHERE x.copy = endNode(r) | x.keep]), endNode(r)) AS target
  CALL (r) {
    UNWIND keys(r) AS k
    WITH k, valueType(r[k]) AS kind ORDER BY k
    RETURN collect(kind) AS kinds
  }
  WITH source, target, type(r) AS name, properties(r) AS said, kinds, count(*) AS times
  WITH *, EXISTS {
    MATCH (source)-[s]->(target)
    WHERE type(s) = name AND properties(s) = said AND all(k IN keys(s) WHERE valueType(s[k]) = valueType(said[k]))
  } AS stands
  RETURN collect(CASE WHEN NOT stands THEN {source: source, target: target, name: name, said: said} END) AS made, sum(times) AS touched
}
CALL (groups) {
  UNWIND groups AS g
  WITH g.keep AS keep, g.copies AS copies, [g.keep] + g.copies AS members
  UNWIND reduce(every = ['labels'] + @alias_keys[0..1], m IN members | every + keys(m)) AS k
  WITH DISTINCT keep, copies, members, CASE WHEN k STARTS WITH 'former_' THEN substring(k, 7) ELSE k END AS k
  WITH keep, copies, k, CASE WHEN k STARTS WITH 'former_' THEN [] ELSE [m IN members WHERE m[k] IS NOT NULL] END AS bearers,
    [m IN members WHERE m['former_' + k] IS NOT NULL | m['former_' + k]] AS formers
  WITH *, [m IN bearers | m[k]] AS values
  WITH *, CASE
      WHEN NOT coalesce(k IN [@entity_source_key] + @alias_keys, false) THEN 'one'
      WHEN all(v IN values WHERE v IS :: LIST<STRING> NOT NULL) THEN 'list'
      WHEN coalesce(k = @entity_source_key AND size(@source_separator) > 0, false)
        AND all(v IN values WHERE v IS :: STRING NOT NULL) THEN 'text'
      ELSE 'one' END AS how,
    CASE WHEN keep[k] IS NOT NULL OR none(u IN $unique WHERE u.on IN labels(keep) AND k IN u.properties
        AND (size(u.properties) > 1 OR NOT u.on IN labels(head(bearers)))) THEN head(values) END AS first
  WITH *, CASE how
      WHEN 'one' THEN first
      WHEN 'text' THEN reduce(text = head(values), v IN tail(values) | text + reduce(more = '', x IN [x IN split(v, @source_separator)
        WHERE NOT x IN split(text, @source_separator)] | more + @source_separator + x))
      ELSE reduce(every = [], x IN reduce(each = [], v IN values | each + v) + CASE WHEN coalesce(k = head(@alias_keys), false)
        THEN [c IN copies WHERE @name(c) <> @name(keep) | @name(c)] ELSE [] END |
        CASE WHEN x IN every THEN every ELSE every + [x] END) END AS value
  WITH keep, k, value, formers, CASE WHEN how = 'one' THEN reduce(others = [], v IN values |
      CASE WHEN any(o IN others + [first] WHERE o = v AND valueType(o) = valueType(v)) THEN others ELSE others + [v] END) ELSE [] END
    + CASE WHEN k = 'labels' THEN reduce(more = [], l IN reduce(each = [], c IN copies | each + labels(c)) |
      CASE WHEN l IN labels(keep) + more THEN more ELSE more + [l] END) ELSE [] END AS others
  WITH *, reduce(apart = [], v IN formers | CASE WHEN v IN apart THEN apart ELSE apart + [v] END) AS formers
  WITH keep, k, value, others, formers, CASE WHEN size(formers) = 1 AND others = [] THEN head(formers)
    ELSE reduce(every = [], v IN formers + others | every + v) END AS told
  WITH keep, k, value, others, CASE
      WHEN valueType(told) CONTAINS ' | ' OR any(x IN [x IN [] + told WHERE x IS :: POINT NOT NULL] WHERE x.srid <> head(told).srid)
      THEN [x IN told | toStringOrNull(x)] ELSE told END AS former
  WITH keep, k, CASE WHEN value <> [] AND (keep[k] IS NULL OR keep[k] <> value) THEN value END AS value,
    CASE WHEN former <> [] AND (keep['former_' + k] IS NULL OR keep['former_' + k] <> former) THEN former END AS former
  WHERE value IS NOT NULL OR former IS NOT NULL
  RETURN collect({keep: keep, k: k, value: value, former: former}) AS changes,
    sum(CASE WHEN value IS NOT NULL AND keep[k] IS NULL THEN 1 ELSE 0 END) AS taken,
    sum(CASE WHEN former IS NULL THEN 0 ELSE size([] + former) - size([] + coalesce(keep['former_' + k], [])) END) AS former
}
WITH groups, left_out, made, touched, changes, taken, former, reduce(n = 0, g IN groups | n + size(g.copies)) AS merged
// writes:
FOREACH (g IN groups | FOREACH (copy IN g.copies | DETACH DELETE copy))
WITH *
CALL (made) {
  UNWIND made AS one
  WITH one, one.source AS source, one.target AS target, one.name AS name
  CREATE (source)-[n:$(name)]->(target)
  SET n = one.said
}
CALL (changes) {
  UNWIND changes AS one
  WITH one, one.keep AS keep
  FOREACH (k IN [k IN [one.k] WHERE one.value IS NOT NULL] | SET keep[k] = one.value)
  FOREACH (k IN [k IN ['former_' + one.k] WHERE one.former IS NOT NULL] | SET keep[k] = one.former)
}
// counts:
RETURN size(groups) AS groups, left_out, merged, size(made) AS moved, touched - size(made) AS joined, taken, former
