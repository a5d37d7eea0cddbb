// merge-evidence: what tells entities apart that may be one thing, and how many relations each has.
//
// :param ids => ['4:x:1']               -- LIST OF STRING: element ids
// :param keys => ['isbn']               -- LIST OF STRING: properties that are declared unique
// :param constant => '.*born.*'     -- STRING: what properties are called that never change
//
// returns: element_id STRING, relations INTEGER, said LIST
// mode: read
UNWIND $ids AS id
MATCH (e) WHERE elementId(e) = id
RETURN id AS element_id, COUNT { (e)--() } AS relations,
  [k IN keys(e) WHERE k IN $keys OR k =~ $constant | [k, left(toStringOrNull(e[k]), 200)]] AS said
