// set-type: gives entities a type: in the layout's property or, where types are labels, as the only label that is a type.
// The types that they had are kept, in the list former_type.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them; leave out those that are right
// :param type => 'Person'                -- STRING: the type that they get
//
// returns: typed INTEGER
// mode: write
MATCH (e:@Entity)
WHERE elementId(e) IN $element_ids
WITH e, CASE WHEN @type_key IS NULL THEN [l IN labels(e) WHERE NOT l IN @type_label_ignored AND l <> coalesce(@scope_label, '')] ELSE [] END AS gone,
  CASE WHEN @type_key IS NULL THEN [$type] ELSE [] END AS added
FOREACH (former IN [t IN gone + [toStringOrNull(e.@type_key)] WHERE t <> $type] | SET e.former_type = [] + coalesce(e.former_type, []) + former)
REMOVE e:$(gone)
SET e:$(added)
FOREACH (k IN [k IN [@type_key] WHERE k IS NOT NULL] | SET e[k] = $type)
RETURN count(*) AS typed
