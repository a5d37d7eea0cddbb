// text-to-number: turns whole numbers that are kept as text into integers, for one property of one type.
// Only texts that the number gives back: '007' and '+1' stay, as all other values do.
//
// :param type => 'Person'                -- STRING: the type of entities or relations
// :param property => 'born'              -- STRING: the property
//
// returns: changed INTEGER
// mode: write
CALL () {
  MATCH (e:@Entity)
  WHERE $type IN labels(e) + [toStringOrNull(e.@type_key)]
    AND e[$property] IS :: STRING NOT NULL AND trim(e[$property]) =~ '0|-?[1-9][0-9]{0,17}'
  SET e[$property] = toInteger(trim(e[$property]))
  RETURN count(*) AS some
  UNION ALL
  MATCH ()-[r]->()
  WHERE $type IN [type(r), @label(r)]
    AND @is(r, RELATION) AND @is(startNode(r), Entity) AND @is(endNode(r), Entity)
    AND r[$property] IS :: STRING NOT NULL AND trim(r[$property]) =~ '0|-?[1-9][0-9]{0,17}'
  SET r[$property] = toInteger(trim(r[$property]))
  RETURN count(*) AS some
}
RETURN sum(some) AS changed
