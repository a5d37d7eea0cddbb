// unclean-text: how many texts of properties hold what is left of markup (a tag, an entity of HTML), bytes in a wrong encoding, signs that
// nobody sees (a blank of no width, a line break at an end), blanks at an end, or two blanks in a row; and which. `markup`: whether tags,
// entities and bytes are looked for; `kinds`: what is listed.
//
// :param suspects => [{label: 'Book', key: 'publisher', markup: true, kinds: ['a tag']}] -- LIST OF MAP: properties of labels, or of types ({type, key})
// :param sample => 5                                                                     -- INTEGER: examples to return; 0: only counted
//
// returns: at INTEGER, texts INTEGER, kind STRING, hits INTEGER, sample LIST OF MAP
// mode: read
CALL () {
  MATCH (n:@Node)
  WHERE any(l IN labels(n) WHERE any(s IN $suspects WHERE s.label = l))
  WITH n, labels(n) AS known
  UNWIND [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IN known] AS at
  RETURN at, n, null AS r, n[$suspects[at].key] AS value
  UNION ALL
  WITH [i IN range(0, size($suspects) - 1) WHERE $suspects[i].label IS NULL] AS places
  WHERE NOT isEmpty(places)
  MATCH (a:@Node)-[r]->(b:@Node)
  WHERE any(i IN places WHERE $suspects[i].type = type(r))
  UNWIND [i IN places WHERE $suspects[i].type = type(r)] AS at
  RETURN at, null AS n, r, r[$suspects[at].key] AS value
}
WITH at, n, r, value
WHERE value IS :: STRING NOT NULL
WITH at, n, r, value, value =~ '(?s).*(?:[<&ÃÂâ\\uFFFD\\u0000-\\u001F\\u00A0\\u00AD\\u200B\\u2060\\uFEFF]|  ).*| .*|.* ' AS is_suspect
WITH at, n, r, value, is_suspect, CASE WHEN is_suspect THEN @markup(value) END AS left_over
WITH at, n, r, value, CASE
  WHEN NOT is_suspect THEN null
  WHEN left_over IN ['a tag', 'an entity of HTML', 'bytes in a wrong encoding'] THEN CASE WHEN $suspects[at].markup THEN left_over END
  WHEN value =~ '(?s).*[\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u00AD\\u200B\\u2060\\uFEFF].*' THEN 'a sign that nobody sees'
  WHEN value =~ '(?s)[\\r\\n\\t].*|.*[\\r\\n\\t]' THEN 'a line break or a tab at an end'
  WHEN value =~ '(?s)[ \\u00A0].*|.*[ \\u00A0]' AND trim(value) <> '' THEN 'a blank at an end'
  WHEN value =~ '.*\\S {2,3}\\S.*' THEN 'two blanks in a row'
END AS kind
WITH at, kind, count(*) AS times, collect(CASE WHEN $sample > 0 AND kind IN $suspects[at].kinds THEN {n: n, r: r, text: left(value, 60)} END) AS hits
WITH at, sum(times) AS texts, collect({kind: kind, times: times, hits: hits}) AS kinds
UNWIND kinds AS k
RETURN at, texts, k.kind AS kind, k.times AS hits, COLLECT {
  UNWIND k.hits[0..1000] AS hit
  WITH hit.n AS n, hit.r AS r, hit.text AS text
  WITH n, r, text, CASE
    WHEN r IS NULL THEN left(coalesce(@shown(n), ''), 200)
    ELSE left(coalesce(@shown(startNode(r)), ''), 200) + ' -[' + type(r) + ']-> ' + left(coalesce(@shown(endNode(r)), ''), 200)
  END AS name
  ORDER BY name, coalesce(elementId(n), elementId(r))
  LIMIT $sample
  RETURN {items: [{element_id: coalesce(elementId(n), elementId(r)), key: name, name: name, type: coalesce(type(r), @type(n)),
    kind: CASE WHEN r IS NULL THEN 'entity' ELSE 'relation' END}], why: text}
} AS sample
ORDER BY at, kind
