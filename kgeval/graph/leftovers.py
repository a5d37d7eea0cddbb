"""What is left in a name of things that are no name: markup of the source, a broken encoding, the output of a model.

One table for two readers: the binder writes it into Cypher (`@markup(x)`, `@output(x)`), and `name_leftover` reads it here. The patterns
are those that Java and Python read alike, with `(?U)` there: no `\\p{...}`, whole texts, at most a thousand characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from kgeval.graph.literals import cypher_literal

# What a text had around its words, or what its loading did to it. In graphs that people made as in extracted ones.
MARKUP: Mapping[str, str] = {
    "an entity of HTML": (
        r".*&(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos|nbsp|copy|reg|trade|deg|times|middot|bull|sect|para|hellip|[mn]dash"
        r"|[lrsb]d?quo|[lr]aquo|euro|pound|yen|cent|szlig|micro|plusmn|frac\d\d|sup\d|[aeiouyAEIOUY](?:acute|grave|circ|uml|tilde|ring)"
        r"|[ntNT]tilde|[ao]tilde|[cC]cedil|[aA][eE]lig|[oO][eE]lig|[oO]slash|alpha|beta|gamma|delta|mu|sigma|omega|[lr]arr|[lg]e|ne);.*"
    ),
    "a tag": (
        r".*</?(?:a|b|i|u|s|em|strong|span|div|p|br|hr|sub|sup|font|small|big|code|pre|tt|q|cite|abbr|li|ul|ol|dl|dt|dd|td|tr|th|table|"
        r"tbody|thead|caption|h[1-6]|img|ref|mark|center|blockquote|section|article|html|body|head|script|style|iframe|input|button|nowiki)"
        r"(?:\s[^<>]{0,200})?/?>.*"
    ),
    "bytes in a wrong encoding": r".*(?:Ã[\u0080-\u00BF€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œž]|â€|Â[\u00A0-\u00BF]|\uFFFD).*",
    "LaTeX": (
        r".*(?:\\[a-zA-Z]{2,20}\s?\{|(?<![A-Za-z:\\_])\\(?:mathrm|mathbf|mathit|mathcal|mathbb|text|textbf|textit|frac|sqrt|times|cdot|leq|"
        r"geq|neq|approx|pm|circ|degree|infty|rightarrow|leftarrow|to|sum|int|alpha|beta|gamma|delta|epsilon|theta|lambda|mu|pi|rho|sigma|"
        r"tau|phi|omega|Delta|Omega|Sigma|begin|end|left|right)(?![a-zA-Z\\/])|\$[^$]{0,200}[\\^_{][^$]{0,200}\$).*"
    ),
    "an escape": (
        r".*(?:(?<![\\:])\\u[0-9a-fA-F]{4}|(?<=[^\\:\s])\\x[89a-fA-F][0-9a-fA-F]|\\[\"'/]|\\n(?![a-zA-Z])"
        r"|[^\W\d_]%(?:20|C3%[89ABab]|E2%80)).*"
    ),
    "a mark of a footnote": r".*[^\W_]\S{1,100}[\w)][*†‡]{1,3}\s*",
    "a delimiter": r".*(?:<SEP>|<\|#?\|>|<\|[A-Za-z_]{2,30}\|>|(?:tuple|record|completion)_delimiter).*",
    "JSON": r"\s*(?:[{]\s*[\"'“].*[}]|\[\s*[\"'“{].*\])\s*",
    "a fence of code": r".*```.*",
    "one quotation mark": r"\s*(?:\"[^\"]*|[^\"]*[^\"\d\s]\")\s*",
}
# A word for no value, or signs in its place: whole texts, in small or capital letters.
NULL_WORD = (
    r"null|none|nan|n/?a|n\.\s?a\.?|nil|undefined|unknown|tb[acd]|t\.b\.[acd]\.|[ns]/d|n\.[cd]\.|k\.\s?a\.|keine angaben?|unbekannt|"
    r"entfällt|entfaellt|sin datos|desconocid[oa]|inconnue?|non renseignée?|sconosciut[oa]|onbekend|lorem ipsum.*|\\[nN]|-+|\?+"
)
# What a model wrote around the name, and what a parser of its output left.
OUTPUT: Mapping[str, str] = {
    "reasoning": (
        r"(?i:.*</?(?:think|thinking|thought|reasoning|reflection|scratchpad|analysis|answer|output|response|final|tool_call)>.*"
        r"|(?:okay|ok|sure|alright|hmm|wait|certainly|of course)[,.!] (?:let me|let's|i|i'll|we|here|first|so|the (?:text|user)|now)\b.*"
        r"|(?:let me|let's|i|i'll|i'd|we) (?:need to |will |should |can |must |have to |now )*(?:extract|identify|analy[sz]e|output|parse"
        r"|list (?:all|the)|start by|go through|think (?:about|step)|return (?:the|all|a)|process the)\b.*"
        r"|(?:here|below) (?:is|are) (?:the|a|an|some|all) .{0,60}(?:entit|relation|list|json|output|result|extract|tripl).*"
        r"|based on the (?:provided |given |above )*(?:text|passage|context|document|information)\b.*"
        r"|as an ai (?:language )?(?:model|assistant).*"
        r"|(?:the )?(?:provided |given )*(?:text|passage|document) (?:does not|doesn't|mentions?|states?|says?|provides?)\b.*"
        r"|no (?:\w+ )?(?:entities|relationships|relations) (?:were |are |was |is )?(?:found|identified|mentioned|extracted|present)\b.*)"
    ),
    "a fence of code": r".*```.*",
    "a delimiter": (
        r".*(?:<SEP>|<\|[^<>]{0,30}>|\|>|(?:tuple|record|completion)_delimiter|\[/?INST\]|<</?SYS>>|</?s>|<(?:eos|bos|pad|unk|mask|sep|cls)>"
        r"|\[(?:CLS|SEP|PAD|UNK|MASK)\]|##).*"
    ),
    "JSON": (
        r"\s*(?:[{]\s*[\"'“].*|\[\s*[\"'“{].*|.*[\"'”]\s*[}\]]+[,;]?|[\"']?\w{1,40}[\"']\s*:\s*.*|.*\"\s*:\s*[\"\[{].*"
        r"|.*\b[a-z_]{2,30}=[\"'][^\"']*[\"'].*)\s*"
    ),
    "a piece of a tuple": (
        r"\s*(?:\(\s*[\"']?(?:entity|relationship|relation|content_keywords)\b.*"
        r"|(?:entity|entities|entity[ _](?:name|type|id)|relationship|relation|source_entity|target_entity|[nN]ame|label|description)"
        r"\s?[:|]\s*\S.*"
        r"|(?:ENTITY|RELATIONSHIP|RELATION|ENTITY[ _](?:NAME|TYPE|ID)|SOURCE_ENTITY|TARGET_ENTITY)\s?[:|]\s*\S.*)"
    ),
    "emphasis of Markdown": (
        r"\s*(?:.*\*\*[^*\s][^*]*\*\*.*|\*[^*\s][^*]*\*|\*\*[^*]{2,}|#{1,6}\s+\S.*|.*`[^`]+`.*|~~.*~~"
        r"|.*!?\[[^\]]+\]\((?:https?:|/|#)\S*\).*)\s*"
    ),
    "a mark of a list": r"\s*(?:[-*•‣▪◦●]\s+[^\W\d_].*|[•‣▪◦●].*|\d{1,2}\)\s+\S.*|\([a-z\d]\)\s+\S.*|\[[ xX]\]\s+\S.*)",
    "quotation marks around it": r"\s*(?:\"[^\"]+\"|“[^”]+”|„[^“]+“|'[^']{2,}'|‘[^’]{2,}’)\s*",
    "a UUID or a piece of one": (
        r"(?i)(?:.*(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f]).*"
        r"|(?=.*[a-f])(?=.*\d)-?(?:[0-9a-f]{4}-){1,3}[0-9a-f]{6,12}|(?=.*[a-f])(?=.*\d)[0-9a-f]{8}(?:-[0-9a-f]{4}){1,3}-?[0-9a-f]{0,11}"
        r"|(?=.*\d)(?=.*[a-f])(?:[a-z]{2,12}[-_])?[0-9a-f]{32}(?:[0-9a-f]{8})?(?:[0-9a-f]{24})?|(?:chunk|doc|ent|rel|node)-[0-9a-f]{8,64})"
    ),
    "a template that was not filled": (
        r".*(?:[^{]|^)\{\{\s?\w+\s?\}\}(?:[^}]|$).*|.*\$\{\w+\}.*|%s|.*\{(?:entity|input|source|target|text)_?\w{0,20}\}.*"
    ),
    "a line break": r"\s*\S.*[\n\r]\s*\S.*",
    "a mark at its end": (
        r".*[^\W_](?:\s*[,;\\=]|\s+[-–—]|\s*[-=]>|\s*:)\s*|\s*[,;:=]\s*[^\W_].*|\s*\|\s*[^\W_][^|]*|[^|]*[^\W_]\s*\|\s*|\s*[-=]>.*"
    ),
    "one bracket": r"\s*(?:\([^()\[\]]{2,}|[^()\[\]:;]{3,}[^\s()\[\]:;\d]\)|\[[^()\[\]]{2,}|[^()\[\]]{2,}\])\s*",
}
_LONGEST = 1000
# Most names have no sign that any kind needs, and one look that knows no Unicode tells so in a twentieth of the time.
_GUARDS = (
    (MARKUP, r".*[<\\$\"*†‡%`{\[\uFFFDÃâÂ].*|.*&[#a-zA-Z][a-zA-Z0-9]{1,9};.*|.*_delimiter.*"),
    (OUTPUT, (
        r".*[<>|{}\[\]\"“”„‘`*#~$\\;:=\n\r_•‣▪◦●%].*|\s*[-,('+].*|.*[-,)–—']\s*|\s*[0-9]{1,2}\).*"
        r"|(?i:.*[0-9a-f]{4}-[0-9a-f]{4}.*|.*[0-9a-f]{32}.*|(?:chunk|doc|ent|rel|node)-.*"
        r"|(?:okay|ok|sure|alright|hmm|wait|certainly|of course)[,.!].*"
        r"|(?:let|i|i'll|i'd|we|here|below|based|as an ai|no|(?:the )?(?:provided |given )*(?:text|passage|document)) .*)"
    )),
)


def leftover_case(text: str, kinds: Mapping[str, str]) -> str:
    """A CASE of Cypher: what is left in `text` (an expression of Cypher), as the keys of `kinds` call it; null where nothing is."""
    def fits(pattern: str, flags: str = "sU") -> str:
        return f"left({text}, {_LONGEST}) =~ {cypher_literal(f'(?{flags}){pattern}')}"

    guards = (f"WHEN NOT {fits(guard, 's')} THEN null" for of, guard in _GUARDS if of is kinds)
    whens = (f"WHEN {fits(pattern)} THEN {cypher_literal(kind)}" for kind, pattern in kinds.items())
    return f"CASE {' '.join((*guards, *whens))} END"


def null_word_test(text: str) -> str:
    """A condition of Cypher: whether `text` (an expression of Cypher) is a word for no value."""
    return f"{text} =~ {cypher_literal(f'(?ius){NULL_WORD}')}"


def name_leftover(name: str, kinds: Mapping[str, str]) -> str | None:
    """What is left in a name: the first of `kinds` that fits; None where nothing is."""
    text = name[:_LONGEST]
    if any(not _compiled(guard).fullmatch(text) for of, guard in _GUARDS if of is kinds):
        return None
    return next((kind for kind, pattern in kinds.items() if _compiled(pattern).fullmatch(text)), None)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
