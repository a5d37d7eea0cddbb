"""Questions that ask the same: the same text, the same words, or near by their embeddings. Made ones as they come;
whole sets, and two.

Nearness alone is not enough: "When was the mill built?" and "When was the quay built?" are near and ask for two things.
So near ones are only compared where both name the same names and numbers, and where their short right answers do not
differ. """

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.records import Question
from kgeval.records.question_checks import TwinKind
from kgeval.text.clean import clean_line
from kgeval.text.signs import identity_key

if TYPE_CHECKING:
    import numpy as np

    Embed = Callable[[Sequence[str]], np.ndarray]

NEAR = 0.9  # cosine; the default of --duplicate-threshold
SHORT_ANSWER = 6  # words: two of them that differ are two things
BLOCK = 1_024  # rows of cosines at a time
FIRST_ROWS = 16  # of a group's vectors: most groups have few questions
_MARKED = re.compile(r"\w*\d[\w.,:/-]*|\w+(?:['’]\w+)*")


@dataclass(frozen=True)
class QuestionFingerprint:
    """What is compared of a question. `marks`: the names and numbers in it; `answers`: its short right answers. `set`:
    which file."""

    id: str
    text: str
    set: int = 0
    marks: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        """What is equal where two have the same words."""
        return identity_key(self.text) or self.text


@dataclass(frozen=True)
class Twin:
    """Question `later` (a place in the list) asks the same as `earlier`. `similarity`: cosine; None where the words are
    the same."""

    later: int
    earlier: int
    how: TwinKind
    similarity: float | None = None


def fingerprint_of(question: Question, number: int = 0) -> QuestionFingerprint:
    """What is compared of a question of set `number`."""
    short = frozenset(
        plain for text in question.right_answers if len(text.split()) <= SHORT_ANSWER and (plain := identity_key(text))
    )
    return QuestionFingerprint(question.id, clean_line(question.question), number, marks(question.question), short)


def text_fingerprint(text: str) -> QuestionFingerprint:
    """What is compared of a question of which only the text is known."""
    return QuestionFingerprint("", clean_line(text), 0, marks(text))


def marks(text: str) -> frozenset[str]:
    """Names and numbers of a text: words with a digit, and words with a capital that do not begin it. Without
    possessive endings."""
    words = enumerate(_MARKED.findall(text))
    marked = [word for index, word in words if any(c.isdigit() for c in word) or (index and word[0].isupper())]
    return frozenset(re.sub(r"['’]s?$", "", word).casefold().strip(".,:/-") for word in marked)


def agree(one: QuestionFingerprint, other: QuestionFingerprint) -> bool:
    """Whether the right answers can be the same: one is not told, or they share one."""
    return not one.answers or not other.answers or bool(one.answers & other.answers)


class Twins:
    """The questions so far, each kept once. `embed`: texts -> unit vectors; None: compared by their words only. `near`:
    cosine from which two are near."""

    def __init__(
        self, embed: Embed | None = None, near: float = NEAR, earlier: Iterable[QuestionFingerprint] = (),
    ) -> None:
        self._embed, self._near = embed, near
        self._texts: set[str] = set()
        self._words: set[str] = set()
        # two questions with other names or numbers ask two things: a group for each set of them, and nothing is compared across groups
        self._groups: dict[frozenset[str], _Group] = {}
        for question in earlier:
            if self._by_words(question) is None:
                self._group(question).keep(question)

    def sift(self, given: Sequence[QuestionFingerprint], *, embed: bool = True) -> list[TwinKind | None]:
        """For each question, in their order, how it is a duplicate of one before it (also among these), or None: then
        it is kept.

        `embed` false: these are compared by their words only.
        """
        kinds: list[TwinKind | None] = [self._by_words(question) for question in given]
        new = [(place, self._group(given[place])) for place, kind in enumerate(kinds) if kind is None]
        # all of a wave at once: a model takes many texts nearly as quickly as one
        vectors = self._embedded(given, new) if embed and self._embed is not None else {}
        for place, group in new:
            if place in vectors and group.has_near(given[place], vectors[place], self._near):
                kinds[place] = "embedding"
            else:
                group.keep(given[place], vectors.get(place))
        return kinds

    def _by_words(self, one: QuestionFingerprint) -> TwinKind | None:
        if one.text in self._texts:
            return "exact"
        if one.words in self._words:
            return "normalised"
        self._texts.add(one.text)
        self._words.add(one.words)
        return None

    def _group(self, one: QuestionFingerprint) -> _Group:
        return self._groups.setdefault(one.marks, _Group())

    def _embedded(
        self, given: Sequence[QuestionFingerprint], new: Sequence[tuple[int, _Group]],
    ) -> dict[int, np.ndarray]:
        """The vectors of those that have another to be compared with, which get theirs too: embedded all at once."""
        sizes = Counter(id(group) for _, group in new)
        compared = [(place, group) for place, group in new if group.size + sizes[id(group)] > 1]
        groups = list({id(group): group for _, group in compared}.values())
        texts = [question.text for group in groups for question in group.waiting] + [given[place].text for place, _ in compared]
        if self._embed is None or not texts:
            return {}
        vectors = iter(self._embed(texts))
        for group in groups:
            waiting, group.waiting = group.waiting, []
            for question in waiting:
                group.keep(question, next(vectors))
        return {place: next(vectors) for place, _ in compared}


@dataclass
class _Group:
    """The questions that name the same names and numbers. `waiting`: those without a vector; the others' stand in one
    array that doubles when it is full, in the order of `known`."""

    waiting: list[QuestionFingerprint] = field(default_factory=list)
    known: list[QuestionFingerprint] = field(default_factory=list)
    vectors: np.ndarray | None = None

    @property
    def size(self) -> int:
        """How many questions are kept."""
        return len(self.waiting) + len(self.known)

    def has_near(self, one: QuestionFingerprint, vector: np.ndarray, near: float) -> bool:
        """Whether one of these is near, and its right answers can be the same."""
        if self.vectors is None:
            return False
        alike = (self.vectors[: len(self.known)] @ vector >= near).nonzero()[0]
        return any(agree(one, self.known[at]) for at in alike)

    def keep(self, one: QuestionFingerprint, vector: np.ndarray | None = None) -> None:
        """Keeps a question."""
        if vector is None:
            self.waiting.append(one)
            return
        import numpy as np

        if self.vectors is None:
            self.vectors = np.zeros((FIRST_ROWS, len(vector)), dtype=np.float32)
        elif len(self.known) == len(self.vectors):
            self.vectors = np.concatenate([self.vectors, np.zeros_like(self.vectors)])
        self.vectors[len(self.known)] = vector
        self.known.append(one)


def twins(given: Sequence[QuestionFingerprint], embed: Embed | None = None, near: float = NEAR) -> Iterator[Twin]:
    """For each question the earlier one that is most like it, if one asks the same: in its own set, and in each earlier
    set.

    `embed`: texts -> unit vectors; None: words only. `near`: the cosine from which two are near. In the order of the
    questions. """
    pairs: dict[tuple[int, int], Twin] = {}
    for twin in (*_same(given), *(_near(given, embed, near) if embed is not None else ())):
        pairs.setdefault((twin.later, given[twin.earlier].set), twin)  # the same words before nearness
    yield from (pairs[key] for key in sorted(pairs))


def _same(given: Sequence[QuestionFingerprint]) -> Iterator[Twin]:
    """Equal texts and equal words."""
    first: dict[tuple[int, str], int] = {}
    sets = range(max((question.set for question in given), default=-1) + 1)
    for place, question in enumerate(given):
        for number in sets:
            earlier = first.get((number, question.words))
            if earlier is not None and given[earlier].set <= question.set:
                yield Twin(place, earlier, "exact" if given[earlier].text == question.text else "normalised")
        first.setdefault((question.set, question.words), place)


def _near(given: Sequence[QuestionFingerprint], embed: Embed, near: float) -> Iterator[Twin]:
    """Near ones among the questions with the same names and numbers: only those are embedded and compared."""
    groups: dict[frozenset[str], list[int]] = {}
    for place, question in enumerate(given):
        groups.setdefault(question.marks, []).append(place)
    several = [places for places in groups.values() if len(places) > 1]
    if not several:
        return
    vectors = embed([given[place].text for places in several for place in places])
    first = 0
    for places in several:
        yield from _near_in(given, places, vectors[first : first + len(places)], near)
        first += len(places)


def _near_in(
    given: Sequence[QuestionFingerprint], places: Sequence[int], vectors: np.ndarray, near: float,
) -> Iterator[Twin]:
    """For each question of a group the nearest earlier one of each set. A block of rows at a time: all cosines of a
    large group would not fit into memory."""
    for start in range(0, len(places), BLOCK):
        cosines = vectors[start : start + BLOCK] @ vectors[: start + BLOCK].T
        for later, row in enumerate(cosines, start=start):
            best: dict[int, Twin] = {}
            for column in (row[:later] >= near).nonzero()[0]:
                twin = Twin(places[later], places[column], "embedding", round(min(1.0, float(row[column])), 4))
                nearest = best.get(given[twin.earlier].set)
                if agree(given[twin.later], given[twin.earlier]) and (
                    nearest is None or (nearest.similarity or 0) < (twin.similarity or 0)
                ):
                    best[given[twin.earlier].set] = twin
            yield from best.values()
