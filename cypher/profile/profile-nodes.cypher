// profile-nodes: a sample of nodes with what is stored on them and at them: properties, degrees by relation type, some relations.
// A node is picked by its id, the same ones for a seed. Of a node with very many relations the first thousand are counted.
//
// :param shares => [1.0]            -- LIST OF FLOAT: of each set of labels, the share of its nodes to pick
// :param places => {`\u0000Person`: 0} -- MAP: from a set of labels, each behind the one character no label has, to its place in shares
// :param seed => 0                  -- INTEGER: seed that picks them
// :param most => 20                 -- INTEGER: relations told of each node
// :param longest => 200             -- INTEGER: characters told of a value
//
// returns: id STRING, place INTEGER, values LIST, outgoing LIST, incoming LIST, relations LIST
// mode: read
MATCH (n:@Node)
WITH n, $places[reduce(set = '', l IN labels(n) | set + '\u0000' + l)] AS place
WHERE place IS NOT NULL AND ($shares[place] >= 1
  OR ((toInteger(last(split(elementId(n), ':'))) % 1000003) * 618037 + $seed * 104729) % 1000003 < $shares[place] * 1000003)
RETURN elementId(n) AS id, place,
  [k IN keys(n) | [k, valueType(n[k]), CASE
    WHEN n[k] IS :: STRING NOT NULL THEN left(n[k], $longest)
    WHEN n[k] IS :: LIST<ANY> THEN toString(size(n[k])) ELSE left(toStringOrNull(n[k]), $longest) END,
    CASE WHEN n[k] IS :: STRING NOT NULL THEN size(n[k]) END]] AS values,
  COLLECT { MATCH (n)-[r]->() WITH r LIMIT 1000 WITH type(r) AS type, count(*) AS times RETURN [type, times] } AS outgoing,
  COLLECT { MATCH (n)<-[r]-() WITH r LIMIT 1000 WITH type(r) AS type, count(*) AS times RETURN [type, times] } AS incoming,
  COLLECT {
    MATCH (n)-[r]->(o)
    WITH r, o LIMIT $most
    RETURN [type(r), $places[reduce(set = '', l IN labels(o) | set + '\u0000' + l)], elementId(o), n = o,
      EXISTS { MATCH (o)-[back]->(n) WHERE type(back) = type(r) AND back <> r },
      [k IN keys(r) | [k, valueType(r[k]), left(CASE WHEN r[k] IS :: LIST<ANY> NOT NULL
        THEN reduce(all = '', x IN r[k][..20] | all + coalesce(toStringOrNull(x), '') + '\u0000') ELSE toStringOrNull(r[k]) END, $longest)]]]
  } AS relations
