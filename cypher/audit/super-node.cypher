// super-node: entities with far more relations than the rest, or pronouns and generic words that gathered relations.
// Every path runs through them, so traversal from one brings in most of the graph.
//
// :param sample => 5              -- INTEGER: examples to return
// :param pronouns => ['it', 'he'] -- LIST OF STRING: pronouns, lower case
// :param generic => ['company']   -- LIST OF STRING: generic words, lower case, without article
// :param min_degree => 20         -- INTEGER: no entity with this degree or less is an outlier
// :param mad_factor => 5.0        -- FLOAT: an outlier has log degree > median + mad_factor * MAD (over entities with a relation)
// :param word_degree => 5         -- INTEGER: a pronoun or generic word is a hit above this degree
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WITH e, COUNT {
  MATCH (e)-[r:@RELATION]-(o)
  WHERE @is(o, Endpoint)
} AS degree
WITH count(*) AS total, collect(CASE WHEN degree > 0 THEN log(degree) END) AS logs,
     collect(CASE WHEN degree > $min_degree OR degree > $word_degree THEN {e: e, degree: degree} END) AS candidates
CALL (logs) { UNWIND logs AS x RETURN percentileCont(x, 0.5) AS median }
CALL (logs, median) { UNWIND logs AS x RETURN percentileCont(abs(x - median), 0.5) AS mad }
WITH total, candidates, exp(median + $mad_factor * mad) AS fence
WITH total, CASE WHEN fence > $min_degree THEN fence ELSE toFloat($min_degree) END AS outlier, candidates
WITH total, outlier, CASE WHEN isEmpty(candidates) THEN [null] ELSE candidates END AS candidates
UNWIND candidates AS c
WITH total, outlier, c.e AS e, c.degree AS degree, count(*) AS once
WITH total, outlier, e, degree, left(@display(e), 200) AS name
WITH total, outlier, e, degree, name, toLower(trim(name)) AS word
WITH total, outlier, e, degree, name, degree > $word_degree AND (word IN $pronouns OR word IN $generic
  OR (word STARTS WITH 'the ' AND substring(word, 4) IN $generic)
  OR (word STARTS WITH 'a ' AND substring(word, 2) IN $generic)) AS is_word
WITH total, outlier, collect(CASE WHEN degree > outlier OR is_word THEN {e: e, degree: degree, name: name, is_word: is_word} END) AS hits
WITH total, outlier, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
WITH total, outlier, count, hit, count(*) AS once
WITH total, outlier, count, hit, hit.e AS e, hit.degree AS degree, hit.name AS name
ORDER BY degree DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name), 200), name: name,
           type: @type(e), kind: 'entity'}],
  why: degree + ' relations' + CASE WHEN degree > outlier THEN ', above ' + toString(toInteger(floor(outlier))) ELSE '' END
    + CASE WHEN hit.is_word THEN ', and the name is a pronoun or a generic word' ELSE '' END} END) AS sample
