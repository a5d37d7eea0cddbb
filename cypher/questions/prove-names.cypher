// prove-names: how many entities hold a term in their name or an alias, as a part of it, for many terms at once.
// Names are compared in lower case, with line ends and double spaces as one space.
//
// :param terms => ['ada']         -- LIST OF STRING: terms, in lower case
//
// returns: term STRING, entities INTEGER, example STRING
// mode: read
MATCH (e:@Entity)
WITH @shown(e) AS name,
     reduce(all = [left(@shown(e), 2000)], k IN @name_keys + @alias_keys | all + CASE
       WHEN e[k] IS NULL THEN []
       WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] | left(toStringOrNull(x), 2000)]
       ELSE [left(toStringOrNull(e[k]), 2000)] END) AS spelled
WITH name, reduce(t = toLower(reduce(all = '', x IN spelled | all + '\u0001' + coalesce(x, ''))),
  c IN [['\r', ' '], ['\n', ' '], ['\t', ' '], ['\u00a0', ' '], ['’', '\''], ['   ', ' '], ['  ', ' ']] | replace(t, c[0], c[1])) AS text
UNWIND $terms AS term
WITH name, term WHERE text CONTAINS term
RETURN term, count(*) AS entities, min(left(name, 300)) AS example
