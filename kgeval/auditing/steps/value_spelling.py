"""value-spelling: properties of few values of which some say the same: in other capitals, blanks, accents or signs, cut off, slips, or
names and codes of one thing (F and female, DE and Germany)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import KeptProperty, judged_properties, text_properties
from kgeval.graph.connect import Row
from kgeval.names.forms import without_marks
from kgeval.names.meanings import KINDS, UMLAUTS, is_code, meanings, plain
from kgeval.profiling.values import FORMATS
from kgeval.text.slips import is_slip

LEAST = 5  # texts of which one value in two forms is said
REPEATED = 0.2  # share of a property's sampled texts that differ, up to which they are values of a list
FEW, REPEATED_OF_FEW = 100, 0.5  # nodes or relations up to which more of their values may differ
MOST_NAMED = 400  # texts of a property up to which they may all be countries, or the like
LONGEST = 40  # characters of a value
LEAST_SLIPS = 20  # texts of which a slip can be told
MOST_SLIPS, MEANT = 2, 5  # times that a slip may stand, and how often what is meant does for each
SHORTEST, OFTENER = 3, 10  # letters of an abbreviation, and how often the word stands for each time that it does
OF_A_KIND = 2 / 3  # share of the texts, and of their times, that are countries, or the like
CODES, CODED = 0.9, 3  # share of a property's texts that are codes, and how many different ones, where a name is another form
CODED_KINDS = ("country", "language", "currency")
SHOWN = 3  # values of a property
BETWEEN_LETTERS = re.compile(r"(?<=\w)[\s_\-.,'\u2019]+(?=\w)")
CASE_SAYS = re.compile(r"unit|uom|symbol|code|gene|allele|hash|token|path|url|uri|file|sku|key|name$|title$|_id$|Id$", re.IGNORECASE)


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties with values that stand in several spellings; `total`: properties of few values that are texts."""
    known = [found for found in text_properties(check) if (found.values.length or 0) <= LONGEST and not _differs_always(found)]
    return judged_properties(check, known, known, _said)


def _differs_always(found: KeptProperty) -> bool:
    return found.values.distinct * found.holders > MOST_NAMED and found.values.distinct > REPEATED


def _is_list_of_values(found: KeptProperty) -> bool:
    most = REPEATED_OF_FEW if found.holders <= FEW else REPEATED
    return found.values.distinct <= most and not CASE_SAYS.search(found.values.key)


def _said(found: KeptProperty, row: Row) -> str | None:
    texts = [(one["text"], one["times"]) for one in row["texts"]]
    of = sum(times for _, times in texts)
    if of < LEAST:
        return None
    named = forms_of_one(texts)
    written = [*spellings(texts), *abbreviations(texts), *slips(texts)] if _is_list_of_values(found) else []
    meant: dict[str, tuple[str, int]] = {}
    for usual, *others in (*named, *written):
        for other, _ in others:
            if usual[0] not in meant:
                meant.setdefault(other, usual)
    if not meant:
        return None
    times = dict(texts)
    rarest = sorted(meant, key=lambda text: (times[text], text))
    what = "forms" if named else "spellings"
    shown = [f"'{other[:40]}' ({times[other]:,}) beside '{meant[other][0][:40]}' ({meant[other][1]:,})" for other in rarest[:SHOWN]]
    return f"{sum(times[other] for other in meant):,} of {of:,} texts are other {what} of a value: {', '.join(shown)}"


def forms_of_one(texts: Iterable[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Texts with how often they stand that name one country, currency, language, weekday, month, gender, or yes or no, where nearly all of
    them do; the usual form first. Names of countries and the like among codes stand behind the most frequent code."""
    known = [(text, times) for text, times in texts if FORMATS["null word"].fullmatch(text.strip()) is None or plain(text) == "na"]
    if len(known) < 2:
        return []
    groups = [own for kind in KINDS for own in _forms_of(kind, known)]
    return [own for at, own in enumerate(groups) if not any({*own} <= {*other} for other in groups[:at])]


def _forms_of(kind: str, texts: Iterable[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    known = list(texts)
    table: Mapping[str, str] = meanings(kind)
    things = {text: thing for text, _ in known if (thing := table.get(plain(text))) is not None}
    told = sum(times for text, times in known if text in things)
    if len(things) < OF_A_KIND * len(known) or told < OF_A_KIND * sum(times for _, times in known):
        return
    coded = Counter({text: times for text, times in known if text in things and is_code(text)})
    are_codes = kind in CODED_KINDS and 2 * coded.total() >= told
    groups: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for text, times in sorted(known, key=lambda one: (are_codes and not is_code(one[0]), -one[1], one[0])):
        if text in things:
            groups[things[text]].append((text, times))
    yield from (own for own in groups.values() if len({plain(text) for text, _ in own}) > 1)
    if kind in CODED_KINDS and coded.total() >= CODES * told and len(coded) >= CODED:
        single = [own[0] for own in groups.values() if len(own) == 1 and not is_code(own[0][0])]
        if single:
            yield [coded.most_common(1)[0], *single]


def spellings(texts: Iterable[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Texts with how often they stand, grouped by what they say, the most frequent first: eur and EUR, São Paulo and Sao Paulo, in-house
    and In house. Signs at an end (A, A-) and, of texts with digits, all of them (1.0, 10) tell apart."""
    groups: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for text, times in sorted(texts, key=lambda one: (-one[1], one[0])):
        groups[_said_by(text)].append((text, times))
    return [own for said, own in groups.items() if said]


def abbreviations(texts: Iterable[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Texts that a few have for a word that many have written out, each behind that word: Eng. and English, Mon and Monday. They begin
    just one of the others, and other spellings and slips of that (PRODUCTION, Prodution), within its one word."""
    known = list(texts)
    found = []
    for short, seldom in known:
        stem = short.rstrip(".").casefold()
        if len(stem) < SHORTEST or not stem.isalpha():
            continue
        longer = [one for one in known if one[0].casefold().startswith(stem) and one[0].casefold() != stem and one[0] != short]
        if longer:
            word, often = max(longer, key=lambda one: one[1])
            is_one = all(_is_written_otherwise(other, word, times, often) for other, times in longer)
            if is_one and often >= OFTENER * seldom and word.isalpha() and len(word) >= len(stem) + 2:
                found.append([(word, often), (short, seldom)])
    return found


def _is_written_otherwise(other: str, word: str, times: int, often: int) -> bool:
    """Whether a text is the word, or a rarer spelling or a slip of it."""
    return other == word or (often >= MEANT * times and (_said_by(other) == _said_by(word) or _is_one_slip(other, word)))


def slips(texts: Iterable[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Texts that one or two have in place of one that many have, each behind that: they differ in one slip of the pen in one of their
    words (Dorest and Dorset), no letter of a series (Type A, Type B)."""
    known = list(texts)
    found = []
    if sum(times for _, times in known) < LEAST_SLIPS:
        return []
    for rare, seldom in known:
        if seldom > MOST_SLIPS:
            continue
        meant = [(usual, often) for usual, often in known if often >= MEANT * seldom and _is_one_slip(rare, usual)]
        if len(meant) == 1:
            found.append([meant[0], (rare, seldom)])
    return found


def _is_one_slip(rare: str, usual: str) -> bool:
    a, b = rare.split(), usual.split()
    differing = [(x, y) for x, y in zip(a, b, strict=False) if x.casefold() != y.casefold()]
    return len(a) == len(b) and len(differing) == 1 and all(word.isalpha() for word in differing[0]) and is_slip(*differing[0])


def _said_by(text: str) -> str:
    plain = without_marks(text.casefold().translate(UMLAUTS)).strip()
    return " ".join(plain.split()) if re.search(r"\d", plain) else BETWEEN_LETTERS.sub("", plain).rstrip(".")
