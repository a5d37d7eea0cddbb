"""Questions that ask the same: the same text, the same words, or near by their embeddings. Within a set, and between two.

Nearness alone is not enough: "When was the mill built?" and "When was the quay built?" are near and ask for two things. So near ones
are only compared where both name the same names and numbers, and where their short right answers do not differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.records import Question
from kgeval.records.question_checks import TwinKind
from kgeval.text.names import normalise

if TYPE_CHECKING:
    import numpy as np

    Embed = Callable[[Sequence[str]], np.ndarray]

NEAR = 0.9
SHORT_ANSWER = 6  # words: two of them that differ are two things
BLOCK = 1_024
_MARKED = re.compile(r"\w*\d[\w.,:/-]*|\w+(?:['’]\w+)*")


@dataclass(frozen=True)
class Asks:
    """What is compared of a question. `marks`: the names and numbers in it; `answers`: its short right answers. `set`: which file."""

    id: str
    text: str
    set: int = 0
    marks: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Twin:
    """Question `later` (a place in the list) asks the same as `earlier`. `similarity`: cosine; null where the words are the same."""

    later: int
    earlier: int
    how: TwinKind
    similarity: float | None = None


def asks(question: Question, number: int = 0) -> Asks:
    """What is compared of a question of set `number`."""
    short = frozenset(plain for text in question.right_answers if len(text.split()) <= SHORT_ANSWER and (plain := normalise(text)))
    return Asks(question.id, " ".join(question.question.split()), number, marks(question.question), short)


def marks(text: str) -> frozenset[str]:
    """Names and numbers of a text: words with a digit, and words with a capital that do not begin it. Without possessive endings."""
    found = list(_MARKED.finditer(text))
    kept = [word[0] for at, word in enumerate(found) if any(c.isdigit() for c in word[0]) or (at and word[0][:1].isupper())]
    return frozenset(re.sub(r"['’]s?$", "", word).casefold().strip(".,:/-") for word in kept)


def twins(given: Sequence[Asks], embed: Embed | None = None, near: float = NEAR) -> Iterator[Twin]:
    """For each question the earlier one that is most like it, if one asks the same: in its own set, and in each earlier set.

    `embed`: texts -> unit vectors; null: words only. `near`: the cosine from which two are near. In the order of the questions.
    """
    found: dict[tuple[int, int], Twin] = {}
    for twin in _same(given):
        found[twin.later, given[twin.earlier].set] = twin
    if embed is not None:
        for twin in _near(given, embed, near):
            found.setdefault((twin.later, given[twin.earlier].set), twin)
    yield from (found[key] for key in sorted(found))


def _same(given: Sequence[Asks]) -> Iterator[Twin]:
    """Equal texts and equal words."""
    first: dict[tuple[int, str], int] = {}
    sets = range(max((one.set for one in given), default=-1) + 1)
    for at, one in enumerate(given):
        plain = normalise(one.text) or one.text
        for number in sets:
            earlier = first.get((number, plain))
            if earlier is not None and given[earlier].set <= one.set:
                yield Twin(at, earlier, "exact" if given[earlier].text == one.text else "normalised")
        first.setdefault((one.set, plain), at)


def _near(given: Sequence[Asks], embed: Embed, near: float) -> Iterator[Twin]:
    """Near ones among the questions with the same names and numbers: only those are embedded and compared."""
    groups: dict[frozenset[str], list[int]] = {}
    for at, one in enumerate(given):
        groups.setdefault(one.marks, []).append(at)
    several = [places for places in groups.values() if len(places) > 1]
    vectors = embed([given[at].text for places in several for at in places])
    start = 0
    for places in several:
        yield from _near_in(given, places, vectors[start : start + len(places)], near)
        start += len(places)


def _near_in(given: Sequence[Asks], places: Sequence[int], vectors: np.ndarray, near: float) -> Iterator[Twin]:
    """For each question of a group the nearest earlier one of each set."""
    import numpy as np

    for start in range(0, len(places), BLOCK):
        cosines = vectors[start : start + BLOCK] @ vectors[: start + BLOCK].T
        for row, line in enumerate(cosines):
            later = start + row
            best: dict[int, Twin] = {}
            for at in (int(one) for one in np.nonzero(line[:later] >= near)[0]):
                twin = Twin(places[later], places[at], "embedding", round(min(1.0, float(line[at])), 4))
                kept = best.get(given[places[at]].set)
                if _agree(given[twin.later], given[twin.earlier]) and (kept is None or (kept.similarity or 0) < (twin.similarity or 0)):
                    best[given[places[at]].set] = twin
            yield from best.values()


def _agree(one: Asks, other: Asks) -> bool:
    """Whether the right answers can be the same: one is not told, or they share one."""
    return not one.answers or not other.answers or bool(one.answers & other.answers)
