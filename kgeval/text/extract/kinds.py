"""What kind of thing a name stands for, by plain evidence: titles and heads of the name, and the words beside it in the text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from kgeval.text.extract.lexicon import (
    BODY,
    GIVEN_NAMES,
    KIN,
    ORGANIZATION_HEADS,
    PERSON_TITLES,
    PLACE_FRONTS,
    PLACE_HEADS,
    PLACING,
    REIGNING,
    SAYING,
)
from kgeval.text.extract.proper import Name
from kgeval.text.extract.words import COMMA, SPACE, Words

PERSON, PLACE, ORGANIZATION = "PERSON", "PLACE", "ORGANIZATION"
KINDS = (PERSON, PLACE, ORGANIZATION)  # earlier wins a tie
BY_NAME, BY_FIRST_NAME = 5.0, 3.0  # what the name itself says, in uses: it outweighs a few uses that say otherwise
LEAST = 1.0  # evidence, in uses
LEAST_SHARE = 0.2  # of all uses of the name


@dataclass(slots=True)
class Evidence:
    """Uses of each name in a document, and how many of them speak for each kind (a weak sign counts half)."""

    uses: Counter[str] = field(default_factory=Counter)
    signs: dict[str, defaultdict[str, float]] = field(default_factory=lambda: {kind: defaultdict(float) for kind in KINDS})

    def add(self, words: Words, name: Name) -> None:
        """Takes in one use of a name."""
        self.uses[name.name] += 1
        before = words.lower[name.first - 1] if name.first and words.gaps[name.first] == SPACE else ""
        after = words.lower[name.last] if name.last < len(words) else ""
        gap = words.gaps[name.last] if name.last < len(words) else ""
        if before in PLACING:
            self.signs[PLACE][name.name] += 1 if before in ("in", "at", "near") else 0.5
        if words.possessive[name.last - 1]:
            self.signs[PERSON][name.name] += after in KIN or after in BODY
        elif before in SAYING or (gap == SPACE and after in SAYING) or (gap in (SPACE, COMMA) and after in ("who", "whose")):
            self.signs[PERSON][name.name] += 1


def kinds(evidence: Evidence) -> dict[str, str]:
    """One kind for each name; names without enough evidence are left out."""
    own = {name: _by_name(name) for name in evidence.uses}
    persons = {word for name, (kind, _) in own.items() if kind == PERSON for word in _parts(name)}
    found = {name: _decide(evidence, name, own[name], persons) for name in evidence.uses}
    called = {name.lower() for name, kind in found.items() if kind == PERSON}
    for name, kind in found.items():
        if kind is None and own[name][0] is None and " " in name and " of " not in name and name.split()[0].lower() in called:
            found[name] = PERSON
    return {name: kind for name, kind in found.items() if kind is not None}


def _decide(evidence: Evidence, name: str, own: tuple[str | None, float], persons: set[str]) -> str | None:
    scores = {kind: evidence.signs[kind].get(name, 0.0) for kind in KINDS}
    if own[0] is not None:
        scores[own[0]] += own[1]
    elif name.lower() in persons:
        scores[PERSON] += BY_FIRST_NAME
    best = max(KINDS, key=lambda kind: (scores[kind], -KINDS.index(kind)))
    enough = best == own[0] or (scores[best] >= LEAST and scores[best] >= LEAST_SHARE * evidence.uses[name])
    return best if enough else None


def _by_name(name: str) -> tuple[str | None, float]:
    """What the name says of itself, and how much that weighs."""
    low = [word.strip(".").lower() for word in name.split()]
    head = low[low.index("of") - 1] if "of" in low[1:] else low[-1]
    signs: Mapping[str | None, bool] = {
        PERSON: low[0] in PERSON_TITLES and (len(low) > 1 or low[0] in REIGNING) and not (head in PLACE_HEADS and len(low) > 2),
        ORGANIZATION: head in ORGANIZATION_HEADS,
        PLACE: (head in PLACE_HEADS and len(low) > 1) or (low[0] in PLACE_FRONTS and len(low) > 1),
    }
    said = next((kind for kind, holds in signs.items() if holds), None)
    if said is not None:
        return said, BY_NAME
    return (PERSON, BY_FIRST_NAME) if low[0] in GIVEN_NAMES else (None, 0.0)


def _parts(name: str) -> list[str]:
    """The words of a person's name that may stand for the person alone: first and last, titles left out."""
    words = [word for word in name.split() if word.strip(".").lower() not in PERSON_TITLES and len(word.strip(".")) > 1]
    of = words.index("of") if "of" in words else len(words)
    return [word.lower() for word in {*words[:1], *words[:of][-1:]}]
