// shorten-name: gives one entity a short name; the long one becomes its description, where it has none, and is kept in the list former_KEY.
// Repeat it for each entity.
//
// :param element_id => '4:...:1'         -- STRING: the entity
// :param name => 'Works of 1907'         -- STRING: its short name
//
// returns: renamed INTEGER
// mode: write
MATCH (e:@Entity)
WHERE elementId(e) = $element_id
WITH e, @name(e) AS long, head([k IN @name_keys WHERE e[k] IS NOT NULL]) AS key
SET e['former_' + key] = [] + coalesce(e['former_' + key], []) + e[key], e[key] = $name
FOREACH (d IN [k IN [@description_key] WHERE k IS NOT NULL AND e[k] IS NULL] | SET e[d] = long)
RETURN count(*) AS renamed
