// look-at-source-names: which entities and relations name a source.
//
// :param layout => {...}                -- MAP: the graph's layout (kgeval layout show NAME prints it)
// :param id => 'chunk-17'                -- STRING: the source's id, as the finding says it
//
// returns: element_id STRING, name STRING
// mode: read
CALL () {
  MATCH (e)
  WHERE $id IN @sources(e, Entity)
    AND @is(e, Entity)
  RETURN elementId(e) AS element_id, @name(e) AS name
  UNION ALL
  MATCH (a)-[r]->(b)
  WHERE $id IN @sources(r, Relation)
    AND @is(r, Relation)
  RETURN elementId(r) AS element_id, coalesce(@name(a), '?') + ' -[' + @label(r) + ']-> ' + coalesce(@name(b), '?') AS name
}
RETURN element_id, name ORDER BY name
