"""The few words that models write before and after an answer although nobody asked for them: a closed list. Whatever else stands before an
object may say that it is quoted, wrong or refused, and is not read."""

from __future__ import annotations

_DETERMINER = r"(?:the|my|your|a|an)"
_ADJECTIVE = r"(?:requested|required|final|resulting|complete|completed|valid|structured|formatted|full|single|corresponding|following)"
_NOUN = (
    r"(?:json(?:[ -](?:object|output|response|answer|reply|result|list|array|data))?|object|answer|output|response|reply|results?"
    r"|verdicts?|evaluations?|assessments?|judge?ments?|ratings?|analysis|list)"
)
_OF_THEM = (
    r"(?:(?:given|provided|numbered|tagged) )?"
    r"(?:questions?|statements?|claims?|contexts?|items?|passages?|relations?|answers?|texts?)"
)
_SCHEMA = rf"(?:(?:given|provided|requested|specified|required) )?(?:json )?(?:schema|format|instructions|{_OF_THEM})"
_TAIL = (
    r"(?:,? (?:as requested|you (?:asked|requested)(?: for)?|in json"
    r"|in (?:the |a )?(?:(?:requested|required|specified|given|valid|json) )*format"
    r"|(?:that )?(?:fits|matches|matching|following|conforming to|that conforms to|adhering to|that adheres to|according to|based on)"
    rf" (?:the|your) {_SCHEMA}"
    rf"|(?:for|of) (?:the|your|each of the|each) (?:request|{_OF_THEM})|with (?:the|my) (?:verdicts?|labels?|ratings?|reasons?)))"
)
_YES = r"(?:(?:sure(?: thing)?|certainly|of course|okay|ok|absolutely|alright|all right|understood|got it|yes|no problem)[!.,:]?\s+)"
_HERE = r"(?:here(?:['\u2019]s| is| are)|below (?:is|are)|this is|these are|the following is)"
_PRESENTED = rf"{_HERE} (?:{_DETERMINER} )?(?:{_ADJECTIVE} )*{_NOUN}{_TAIL}{{0,3}}"
_NAMED = rf"(?:(?:final|resulting|complete|full) )?{_NOUN}"
_HEADING = rf"(?:the {_NAMED} is|(?:my )?{_NAMED}(?: is)?)"  # "The answer:" may be the one that is judged
_SAID_ELSEWHERE = "|".join((
    r"hier ist (?:das|die|meine|der)(?: (?:gewünschte|angeforderte|fertige))? (?:json(?:-objekt)?|antwort|ergebnis|ausgabe|bewertung)"
    r"(?: im json-format)?", r"antwort|ergebnis",
    r"voici (?:le |la |l['\u2019]|ma )(?:json|objet json|réponse|résultat|sortie)(?: demandée?| au format json| en json)?|réponse|résultat",
    r"aquí (?:está|tienes) (?:el|la|mi) (?:json|objeto json|respuesta|resultado)(?: solicitad[oa]| en formato json)?|respuesta|resultado",
    r"ecco (?:il |la |l['\u2019])(?:json|oggetto json|risposta|risultato)(?: richiest[oa]| in formato json)?|risposta|risultato",
    r"aqui está (?:o|a) (?:json|objeto json|resposta|resultado)(?: solicitad[oa]| em formato json)?|resposta",
    r"hier is (?:het|de) (?:json(?:-object)?|antwoord|resultaat)|antwoord",
    r"oto (?:json|obiekt json|odpowiedź|wynik)(?: w formacie json)?|odpowiedź|wynik",
    r"вот (?:json(?:-объект)?|ответ|результат)(?: в формате json)?|ответ|результат",
    r"以下是(?:json|符合要求的json|答案|结果|输出|回答|判断结果)(?:格式)?(?:对象|的答案|的结果)?|答案|结果|输出|回答",
    r"以下(?:は|が)(?:json|回答|結果)(?:オブジェクト)?です|結果", r"다음은 (?:json|답변|결과)(?: 객체)?입니다|답변|결과",
))
# ending in a colon, a stop or the line's end, in any of Markdown's emphasis
LEAD = (
    rf"(?:\#{{1,4}} ?)?\*{{0,2}}{_YES}?(?:(?:{_PRESENTED}|here you (?:are|go))\*{{0,2}} ?[:.!]\*{{0,2}}"
    rf"|(?:{_HEADING}|{_SAID_ELSEWHERE})\*{{0,2}} ?(?:[:\uff1a\u3002]|(?=\n))\*{{0,2}})|{_YES}"
)
# one sentence of courtesy, without brackets
SIGN_OFF = (
    r"(?: ?(?:(?:please )?let me know if you (?:need|have|want|would like)|(?:i )?hope (?:this|that) helps|(?:is there )?anything else"
    r"|feel free to (?:ask|reach out)|good luck)[^.!?{}\[\]]*[.!?])?"
)
