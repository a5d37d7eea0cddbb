// leaked-description: entity descriptions in which a model refuses, or talks about its task.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
  AND e.@description_key IS NOT NULL
WITH e, [x IN CASE WHEN e.@description_key IS :: LIST<ANY> THEN e.@description_key ELSE split(toStringOrNull(e.@description_key), coalesce(nullIf(@source_separator, ''), '<SEP>')) END
  | left(trim(toStringOrNull(x)), 300)] AS pieces
WITH e, head([x IN pieces WHERE x =~ '(?is)["\'(*\\s]*(?:i[\'\u2019]?m sorry|i am sorry|sorry, (?:but )?i\\b|i apologi[sz]e|as an ai\\b|as an? (?:large )?language model|i (?:cannot|can[\'\u2019]?t|can not|am unable to|am not able to) (?:provide|help|assist|summari|generate|fulfil|create|complete)|(?:sure|certainly|of course)[!,.] (?:here|i)|here(?: is|[\'\u2019]s) (?:a|the|your) (?:brief |concise |comprehensive )?(?:summary|description|json|list)|es tut mir leid|als (?:ki|sprachmodell)|je suis désolé|en tant que modèle|lo siento|como modelo de lenguaje)\\b.*']) AS said
WITH count(*) AS total, collect(CASE WHEN said IS NOT NULL THEN {e: e, said: said} END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS hit
WITH total, count, hit, count(*) AS once
WITH total, count, hit.e AS e, hit.said AS said
WITH total, count, e, said, @name(e) AS name
ORDER BY name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name, ''), 200), name: left(coalesce(name, ''), 200), kind: 'entity',
   type: @type(e)}], why: left(said, 120)} END) AS sample
