// type-inconsistency: the entity types with their number of entities, for the search of types that are spellings of each other.
// kgeval compares them in Python: equal but for case, spaces, punctuation and an English plural, or long and one letter apart.
// Other than in most checks, the rows are the candidates, not the finding.
//
// returns: type STRING, entities INTEGER
// mode: read
MATCH (e:@Entity)
UNWIND CASE WHEN toStringOrNull(e.@type_key) IS NOT NULL THEN [toStringOrNull(e.@type_key)]
  ELSE [l IN labels(e) WHERE NOT l IN @type_label_ignored] END AS type
RETURN type, count(*) AS entities ORDER BY entities DESC, type
