"""Where sentences end, in any script: borders only, so that every character keeps its place. Pure and in linear time.

A wrong border costs little here (a chunk ends a sentence early), a missed one costs more (a chunk ends at a word), so quotes and
brackets never hold a sentence together: real books have quotes that stay open for a hundred pages.
"""

from __future__ import annotations

import re
from itertools import pairwise

from kgeval.text.wordlists import word_set

Span = tuple[int, int]

_STRONG = "。！？｡．।॥።፧។៕။།"
_CLOSERS = "\"'”’»›)\\]}）」』】〉》〕*_"
# possessive (++ and *+) here and below: a text of a million dots is gone through once
_STOP = re.compile(rf"[.!?…؟۔։{_STRONG}]++[{_CLOSERS}]*+(?:\[[^\]\s]{{1,5}}\])*+")
# before a blank line, a heading, an item of a list, a row of a table, a quote, a fence, a rule; after a heading, a row, a rule
_LINE = re.compile(r"\n(?=[ \t]*+(?:\n|#{1,6}[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|\||>|```|~~~|={3}|-{3}))")
_HEAD = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]|\||={3}|-{3})[^\n]*+\n", re.MULTILINE)
_NEXT = re.compile(r"\s*+[\"'“‘„«‹(\[{¿¡*_—–-]{0,5}+([^\W_]*+)")
_ACRONYM = re.compile(r"(?:\w\.)+\w")
_OPENERS = "\"'“‘„«‹([{¿¡*_—–-"


# never the end of a sentence: a name or an example follows
_BEFORE_NAMES = word_set(
    "mr mrs ms messrs mme mmes mlle mm dr drs prof rev hon gen col maj capt cpt lt sgt cpl gov sen rep pres supt ste hr frau hrn "
    "dipl ing sra srta dña dott sig sigg e.g i.e z.b d.h u.a vgl bzw cf viz vs approx resp sog ggf evtl inkl exkl p.ex sc"
)
_BEFORE_NUMBERS = word_set(
    "no nos nr núm fig figs vol vols ch chap p pp sec sect art arts bd eq ex op abb tab abs kap para ca circa approx b d r c "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
_ABBREVIATED = _BEFORE_NAMES | _BEFORE_NUMBERS
# may end a sentence: it does where a word follows that often begins one
_MAY_END = word_set("st jr sr co inc ltd corp etc bros dept univ ave blvd rd mt ft est al usw ff m sr sen jun")
_BEGINNERS = word_set(
    "the he she it they we you i this that these those there then but and in on at his her its their our my your a an as if when "
    "while after before for from so what who how why where no not yet all some one with by to now here however although since "
    "der die das er sie es wir ich ein eine und aber im als wenn auch doch "
    "le la les il elle ils elles un une et mais dans en el los las ella ellos y pero"
)
_MONTHS = word_set(
    "januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert "
    "ledna února března dubna května června července srpna září října listopadu prosince"
)


def sentences(text: str) -> list[Span]:
    """The sentences as (start, end) in characters, in order, without whitespace at either end.

    Every character that is no whitespace is in exactly one. Blank lines, headings, list items and table rows end a sentence too.
    """
    stops = (match.end() for match in _STOP.finditer(text) if _ends(text, match))
    lines = (match.end() for pattern in (_LINE, _HEAD) for match in pattern.finditer(text))
    borders = sorted({0, len(text), *lines, *stops})
    return [span for start, end in pairwise(borders) if (span := trimmed(text, start, end))]


def trimmed(text: str, start: int, end: int) -> Span | None:
    """The span without whitespace at either end; None where nothing is left."""
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    kept = len(part.strip())
    return (start + left, start + left + kept) if kept else None


def _ends(text: str, found: re.Match[str]) -> bool:
    """Whether a sentence ends with these marks."""
    marks, end = found.group(), found.end()
    after = text[end: end + 1]
    if any(mark in _STRONG for mark in marks):
        return not (marks == "．" and after.isdigit())
    if after and not after.isspace():
        return False
    follower = _NEXT.match(text, end)
    word = follower[1] if follower else ""
    if follower and len(word) == 1 and word.isalpha() and text[follower.end(): follower.end() + 1] == ".":
        word = ""  # an initial ("A. Holm") is no article
    if word[:1].islower():
        return False
    return marks.rstrip("*_") != "." or not _is_abbreviation(text, found.start(), word)


def _is_abbreviation(text: str, at: int, follower: str) -> bool:
    """Whether the full stop at `at` belongs to its word. `follower`: the next word."""
    before = text[max(0, at - 24): at]
    parts = before.split() if before[-1:].strip() else []
    word = parts[-1].lstrip(_OPENERS) if parts else ""
    low, follows = word.casefold(), follower.casefold()
    if low in _BEFORE_NAMES:
        return True
    if low in _BEFORE_NUMBERS and follower[:1].isdigit():
        return True
    if word.isdigit():
        return (len(word) <= 3 and _begins_item(text, at - len(word), parts)) or (len(word) <= 2 and follows in _MONTHS)
    if word == "I" and len(parts) > 1 and (parts[-2][-1].islower() or parts[-2][-1] == ","):
        return False
    initial = len(word) == 1 and word.isupper()
    return (initial or low in _MAY_END or _ACRONYM.fullmatch(word) is not None) and follows not in _BEGINNERS


def _begins_item(text: str, at: int, parts: list[str]) -> bool:
    """Whether the number at `at`, the last of `parts`, numbers what follows: at the start of a line, or after another sentence."""
    if at == 0 or text[at - 1] == "\n":
        return True
    last = parts[-2].casefold() if len(parts) > 1 else ""
    return last[-1:] in (".", "!", "?", ",", ";", ":") and last.strip("._*(") not in _ABBREVIATED
