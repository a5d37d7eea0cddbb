// placeholder-entity: entities whose name or type is a placeholder.
// What an extractor or a writer puts where it knew nothing: unknown, n/a, manual_creation, entity 1, <name>; and the
// layout's own placeholder values, in the name or in the type. So are names of data that were left from a test: 'Test customer', 'ZZ DO NOT
// USE', asdf, and things with an address like test@test.com.
//
// :param sample => 5                    -- INTEGER: examples to return
// :param placeholders => ['unknown', 'n/a', 'none'] -- LIST OF STRING: names that stand for nothing, in lower case
// :param doubted => ['tbc']             -- LIST OF STRING: the same, but for things that can be called so (a disease, a bank)
// :param sample_share => 1.0            -- FLOAT: share of the things that are looked at, picked by their ids
// :param sample_seed => 0               -- INTEGER: seed that picks them
//
// returns: count INTEGER, total INTEGER, sample LIST OF MAP
// mode: read
MATCH (e:@Entity)
WHERE ($sample_share >= 1 OR ((toInteger(last(split(elementId(e), ':'))) % 1000003) * 618037 + $sample_seed * 104729) % 1000003 < $sample_share * 1000003)
WITH e, @name(e) AS name
WITH e, left(replace(toLower(trim(normalize(name, NFKC))), 'ß', 'ss'), 60) AS folded,
  toLower(@type(e)) AS type,
  [v IN @placeholder_values | toLower(v)] AS written
WITH e, folded IN $placeholders OR folded IN written OR type IN written
  OR folded IN $doubted AND NOT coalesce(type, '') =~
    '.*(diseas|disorder|condition|diagnos|infect|illness|symptom|medic|gene|protein|compan|organi|bank|brand|channel|' +
    'broadcast|acronym|abbrev|term|concept|code|product|airport|krank|malad|enferm).*'
  OR folded =~ 'x{4,}'
  OR folded =~ '(entity|node|item|object|placeholder|unnamed|untitled|unknown|dummy' +
    '|entidad|entité|entität|сущность|实体|エンティティ)[ _#-]*\\p{N}+'
  OR folded =~ '(.*[ (*:!-])?(do not use|don.?t use|bitte nicht (verwenden|benutzen|nutzen)|nicht (verwenden|benutzen|löschen)|ne (pas|plus) utiliser' +
    '|no (usar|utilizar)|non (usare|utilizzare)|n[ãa]o (usar|utilizar)|niet gebruiken|delete ?me|to be deleted)( (please|svp))?[ )*.!-]*'
  OR folded =~ '(do not use|bitte nicht (verwenden|benutzen)|nicht (verwenden|benutzen)|ne pas utiliser|no usar|non usare|n[ãa]o usar|niet gebruiken) ?[-:(!/*].*'
  OR folded =~ '(test|dummy|fake|essai|prueba|prova|teste|proef|muster)[ _-]*(customer|client|kundin|kunde|klant|cliente|user|benutzer|nutzer|' +
    'utilisateur|usuario|utente|gebruiker|person|persona|personne|employee|mitarbeiter|employ[ée]|empleado|medewerker|supplier|vendor|' +
    'lieferant|fournisseur|proveedor|fornitore|leverancier|fornecedor|company|firma|soci[ée]t[ée]|empresa|azienda|bedrijf|konto|' +
    'bestellung|commande|pedido|patient|paciente|paziente|contact|kontakt|contacto|lead)s?[ _#-]*\\d*'
    AND NOT coalesce(type, '') =~ '.*(role|rolle|type|typ|kind|class|categ|kateg|status|term|concept|topic|persona|group|permission|grade|level).*'
  OR folded =~ '(clien[te]e?|utilisateur|usuario|utente|utilizador|fournisseur|proveedor|fornitore|empresa|soci[ée]t[ée]|azienda|compte|commande|' +
    'pedido|paciente|paziente)[ _-]*(de[ _-]|di[ _-])?(test|essai|prueba|prova|teste)[ _#-]*\\d*'
  OR folded =~ '(asdf+g?h?j?k?l?|asdasd(asd)*|yxcv\\w*|qwert[yz]|foo ?bar|foo|test[ _#-]*\\d*|test ?test|te?st.{0,3}please ignore|demo|essai|prueba|prova|teste|blah?( blah?)*|aaa+)'
    AND coalesce(type, '') =~ '(.*[^a-zà-ÿ])?(customer|client|kunde|klant|cliente|user|benutzer|nutzer|utilisateur|usuario|utente|gebruiker|person|' +
      'persona|personne|people|employee|mitarbeiter|employ[ée]|empleado|medewerker|supplier|vendor|lieferant|fournisseur|proveedor|fornitore|' +
      'leverancier|fornecedor|company|firma|soci[ée]t[ée]|empresa|azienda|bedrijf|contact|kontakt|contacto|patient|paciente|paziente|student|' +
      'member|mitglied|membre|miembro|lead|account|guest|gast)s?'
  OR any(mail IN [e['email'], e['mail'], e['e_mail'], e['eMail'], e['emailAddress'], e['email_address'], e['correo'], e['courriel'], e['Email']]
    WHERE toLower(toStringOrNull(mail)) =~ '(test|tests|dummy|asdf|xxx|foo|fake|prueba|essai|prova|teste|aaa)\\d*@(test|tests|asdf|xxx|foo|bar|dummy|fake|aaa|prueba)\\d*[.][a-z.]+')
  OR folded =~ '<[\\p{L}_ ]+>|\\{[\\p{L}_ ]+\\}|\\[(name|entity|unknown|redacted)\\]' AS placeholder
WITH count(*) AS total, collect(CASE WHEN placeholder THEN e END) AS hits
WITH total, size(hits) AS count, CASE WHEN isEmpty(hits) THEN [null] ELSE hits END AS hits
UNWIND hits AS e
// grouping makes new rows, that do not each hold the list of all hits
WITH total, count, e, count(*) AS once
WITH total, count, e, @name(e) AS name, COUNT { (e)--() } AS links
ORDER BY links DESC, name, elementId(e) LIMIT $sample
RETURN count, total, collect(CASE WHEN e IS NOT NULL THEN {
  items: [{element_id: elementId(e), key: left(coalesce(@key(e), name, ''), 200),
   name: left(coalesce(name, ''), 200), kind: 'entity',
   type: @type(e)}],
  why: CASE WHEN toLower(@type(e))
    IN [v IN @placeholder_values | toLower(v)]
    THEN 'the type is a placeholder; ' ELSE '' END + toString(links) + CASE links WHEN 1 THEN ' link' ELSE ' links' END
} END) AS sample
