// name-bearers: how many entities bear the commonest name, whatever its case and the spaces at its ends.
//
// returns: bearers INTEGER
// mode: read
MATCH (e:@Entity)
WITH toLower(trim(@name(e))) AS name, count(*) AS bearers
WHERE name IS NOT NULL
RETURN coalesce(max(bearers), 0) AS bearers
