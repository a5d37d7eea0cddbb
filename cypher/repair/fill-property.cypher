// fill-property: gives entities and relations a value of a property that they lack.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities and relations, as the finding lists them
// :param property => 'born'              -- STRING: the property
// :param value => 'unknown'              -- ANY: its value
//
// returns: filled INTEGER
// mode: write
CALL () {
  MATCH (e:@Entity)
  WHERE elementId(e) IN $element_ids AND e[$property] IS NULL
  SET e[$property] = $value
  RETURN count(*) AS some
  UNION ALL
  MATCH ()-[r]->()
  WHERE elementId(r) IN $element_ids AND r[$property] IS NULL
    AND @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
  SET r[$property] = $value
  RETURN count(*) AS some
}
RETURN sum(some) AS filled
