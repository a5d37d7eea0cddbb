"""value-spelling: properties of few values of which some say the same: in other capitals, blanks, accents or signs, cut off, or slips."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import KeptProperty, judged_properties, text_properties
from kgeval.graph.connect import Row
from kgeval.names.forms import without_marks
from kgeval.text.slips import is_slip

LEAST = 20  # texts of which a list of values says something
REPEATED = 0.2  # share of a property's sampled texts that differ, up to which they are values of a list
LONGEST = 40  # characters of a value
MOST_SLIPS, MEANT = 2, 5  # times that a slip may stand, and how often what is meant does for each
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae", "œ": "oe"})
SHORTEST, OFTENER = 3, 10  # letters of an abbreviation, and how often the word stands for each time that it does
BETWEEN_LETTERS = re.compile(r"(?<=\w)[\s_\-.,'\u2019]+(?=\w)")
CASE_SAYS = re.compile(r"unit|uom|symbol|code|gene|allele|hash|token|path|url|uri|file|sku|key|name$|title$|_id$|Id$", re.IGNORECASE)


def run(check: CheckRun) -> CheckOutcome:
    """`count`: properties with values that stand in several spellings; `total`: properties of few values that are texts."""
    known = [found for found in text_properties(check) if _is_list_of_values(found)]
    return judged_properties(check, known, known, _said)


def _is_list_of_values(found: KeptProperty) -> bool:
    values = found.values
    return values.distinct <= REPEATED and (values.length or 0) <= LONGEST and not CASE_SAYS.search(values.key)


def _said(_: KeptProperty, row: Row) -> str | None:
    texts = [(one["text"], one["times"]) for one in row["texts"]]
    several = [own for own in [*spellings(texts), *abbreviations(texts), *slips(texts)] if len(own) > 1]
    of = sum(times for _, times in texts)
    if of < LEAST or not several:
        return None
    rare = sum(times for own in several for _, times in own[1:])
    (usual, often), (other, seldom) = several[0][:2]
    return f"{rare:,} of {of:,} texts are other spellings of a value: '{other[:40]}' ({seldom:,}) beside '{usual[:40]}' ({often:,})"


def spellings(texts: Iterable[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Texts with how often they stand, grouped by what they say, the most frequent first: eur and EUR, São Paulo and Sao Paulo, in-house
    and In house. Signs at an end (A, A-) and, of texts with digits, all of them (1.0, 10) tell apart."""
    groups: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for text, times in sorted(texts, key=lambda one: (-one[1], one[0])):
        groups[_said_by(text)].append((text, times))
    return [own for said, own in groups.items() if said]


def abbreviations(texts: Iterable[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Texts that a few have for a word that many have written out, each behind that word: Eng. and English, Mon and Monday. They begin
    just one of the others, within its one word."""
    known = list(texts)
    found = []
    for short, seldom in known:
        stem = short.rstrip(".").casefold()
        if len(stem) < SHORTEST or not stem.isalpha():
            continue
        longer = [one for one in known if one[0].casefold().startswith(stem) and one[0].casefold() != stem and one[0] != short]
        if len(longer) == 1:
            word, often = longer[0]
            if often >= OFTENER * seldom and word.isalpha() and len(word) >= len(stem) + 2:
                found.append([(word, often), (short, seldom)])
    return found


def slips(texts: Iterable[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Texts that one or two have in place of one that many have, each behind that: they differ in one slip of the pen in one of their
    words (Dorest and Dorset), no letter of a series (Type A, Type B)."""
    known = list(texts)
    found = []
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
