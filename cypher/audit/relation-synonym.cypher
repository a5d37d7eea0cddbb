// relation-synonym: how each relation name is used: how often, and between which types.
// The step after it compares the names that are used between the same types.
//
// :param max_names => 3000         -- INTEGER: relation names to compare, most used first
//
// returns: label STRING, uses INTEGER, total INTEGER, pairs LIST OF LIST
// mode: read
MATCH (a:@Endpoint)-[r]->(b:@Endpoint)
WHERE @is(r, RELATION)
WITH @label(r) AS label,
     @type(a) AS source,
     @type(b) AS target
WITH label, source, target, count(*) AS uses
ORDER BY uses DESC, source, target
WITH label, sum(uses) AS uses, collect([source, target, uses])[..100] AS pairs
ORDER BY uses DESC, label
WITH collect({label: label, uses: uses, pairs: pairs}) AS names
UNWIND names[..$max_names] AS n
RETURN left(n.label, 200) AS label, n.uses AS uses, size(names) AS total, n.pairs AS pairs
