// missing-type: entities without a type.
// No type property and no label that is a type, or one that is blank or says that the type is not known. Ends of relations
// that were never extracted (`dangling`, the layout's placeholder values) belong to dangling-relation and are left out.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param placeholders => ['unknown', 'n/a', 'none'] -- LIST OF STRING: words that stand for no type, in lower case
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WITH e, @display(e) AS name
WITH e, @type(e) AS type
WITH e, toLower(trim(type)) AS type
WITH e, (type IS NULL OR type = '' OR type IN $placeholders) AND NOT coalesce(e.dangling = true, false)
  AND NOT coalesce(type IN [v IN @placeholder_values | toLower(v)], false) AS untyped
WITH count(*) AS total, collect(CASE WHEN untyped THEN e END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS e
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, e, count(*) AS once
WITH total, count, e, @display(e) AS name, COUNT { (e)--() } AS links
ORDER BY links DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name), 200),
   name: left(name, 200), kind: 'entity',
   type: @type(e)}],
  why: toString(links) + CASE links WHEN 1 THEN ' link' ELSE ' links' END
} END) AS sample
