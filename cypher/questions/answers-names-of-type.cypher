// answers-names-of-type: names of entities of one type, a part of them that the seed decides.
//
// :param type => 'PERSON'         -- STRING: the type
// :param seed => 7                -- INTEGER: decides which
// :param most => 50               -- INTEGER: names at most
//
// returns: name STRING
// mode: read
MATCH (e:@Entity)
WHERE left(@type(e), 200) = $type
WITH DISTINCT left(@shown(e), 300) AS name
WHERE size(split(name, ' ')) > 1
// a number out of the name's own characters and the seed, so that the same names come back after a rebuild
WITH name, reduce(h = $seed % 100003, i IN range(0, size(name) - 1) | (h * 31 + size(split(name, substring(name, i, 1))) + i) % 100003) AS place
RETURN name ORDER BY place, name LIMIT $most
