// look-at-source-names: which entities and relations name a source.
//
// :param id => 'chunk-17'                -- STRING: the source's id, as the finding says it
//
// returns: element_id STRING, name STRING
// mode: read
CALL () {
  MATCH (e:@Entity)
  WHERE $id IN @sources(e, Entity)
  RETURN elementId(e) AS element_id, @name(e) AS name
  UNION ALL
  MATCH (a:@Entity)-[r:@RELATION]->(b)
  WHERE $id IN @sources(r, Relation)
    AND @is(b, Entity)
  RETURN elementId(r) AS element_id, coalesce(@name(a), '?') + ' -[' + @label(r) + ']-> ' + coalesce(@name(b), '?') AS name
}
RETURN element_id, name ORDER BY name
