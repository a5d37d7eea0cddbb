// relations-by-ends: the relations of some types between some labels, as numbers of their nodes, some at a time: ends[i] is the end of the
// relation that begins at starts[i]. `prefix`: what stands before a number in an element id.
//
// :param kinds => [{at: 0, type: 'KNOWS', start: 'Person', end: 'Person'}] -- LIST OF MAP: types, and labels at their ends
// :param slice => 10000             -- INTEGER: relations a row
//
// returns: at INTEGER, prefix STRING, starts LIST OF INTEGER, ends LIST OF INTEGER
// mode: read
MATCH (a:@Node)-[r]->(b:@Node)
WHERE any(k IN $kinds WHERE k.type = type(r)) AND a <> b
UNWIND [k IN $kinds WHERE k.type = type(r) AND k.start IN labels(a) AND k.end IN labels(b)] AS k
WITH k.at AS at, min(elementId(a)) AS one, collect([toInteger(last(split(elementId(a), ':'))), toInteger(last(split(elementId(b), ':')))]) AS pairs
UNWIND range(0, size(pairs) - 1, $slice) AS from
WITH at, left(one, size(one) - size(last(split(one, ':')))) AS prefix, pairs[from..from + $slice] AS some
RETURN at, prefix, [p IN some | p[0]] AS starts, [p IN some | p[1]] AS ends
