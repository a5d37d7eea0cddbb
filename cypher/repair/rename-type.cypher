// rename-type: gives all entities of one type another one, in the layout's property and as label, where it is either.
// The type that goes is kept, in the list former_type.
//
// :param from => 'Boat'                  -- STRING: the type that goes
// :param to => 'Ship'                    -- STRING: the type that they get
//
// returns: renamed INTEGER
// mode: write
MATCH (e:@Entity)
WITH e, [l IN labels(e) WHERE l = $from AND NOT l IN @type_label_ignored AND l <> coalesce(@scope_label, '')] AS gone
WHERE size(gone) > 0 OR toStringOrNull(e.@type_key) = $from
REMOVE e:$(gone)
SET e:$([l IN gone | $to]), e.former_type = [] + coalesce(e.former_type, []) + $from
FOREACH (k IN [k IN [@type_key] WHERE toStringOrNull(e[k]) = $from] | SET e[k] = $to)
RETURN count(*) AS renamed
