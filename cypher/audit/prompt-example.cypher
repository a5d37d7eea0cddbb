// prompt-example: how many entities there are, and those that are called as the examples in prompts of extraction.
// The step after it looks whether the texts of the graph hold these names, and whether enough of one example are there.
//
// :param examples => ['noah carter', 'carbon-fiber spikes'] -- LIST OF STRING: names of such examples, in lower case
//
// returns: total INTEGER, found LIST OF MAP
// mode: read
MATCH (e:@Entity)
WITH e, @name(e) AS name
WITH e, name, trim(replace(replace(toLower(trim(normalize(left(name, 60), NFKC))), '"', ''), '’', '\'')) AS folded
WITH count(*) AS total, collect(CASE WHEN folded IN $examples THEN {e: e, name: name, folded: folded} END) AS hits
RETURN total, [hit IN hits | {
  element_id: elementId(hit.e), key: left(coalesce(@key(hit.e), hit.name), 200), name: left(hit.name, 200), type: @type(hit.e),
  folded: hit.folded, relations: COLLECT { WITH hit.e AS e MATCH (e)-[r:@RELATION]-() RETURN elementId(r) LIMIT 1000 }
}] AS found
