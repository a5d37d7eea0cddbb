"""The same rows three times: as answered, with the reference in the answer's place, and with a wrong answer there."""

from __future__ import annotations

import hashlib
import os
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import TracebackType
from typing import Literal, Self, get_args

from pydantic import BaseModel

from kgeval.errors import InputError
from kgeval.format import plural
from kgeval.metrics.judge.context import answer_text
from kgeval.metrics.words import words
from kgeval.records import Answer, Citation, Row, Triple
from kgeval.tables.label_files import WrongAnswers

# For each answer the answer of another question: a shuffle in which nothing stays in its place. Pure.

TRIES = 100  # other places that a bad one is offered to
EXACT = 1000  # places, up to which the largest matching is looked for: of all pairs of them is asked who fits whom


@dataclass(frozen=True, slots=True)
class AnswerMarks:
    """One answer. `said`: mark of its text, empty where nothing was said; `right`: marks of the question's right answers."""

    question: str
    said: bytes
    right: frozenset[bytes]


@dataclass(frozen=True)
class Shuffled:
    """`donors`: for each place the place whose answer it gets, or None where no other answer would be wrong. `reused`: places whose
    answer was given to another place too."""

    donors: tuple[int | None, ...]
    reused: int


def wrong_for(receiver: AnswerMarks, donor: AnswerMarks) -> bool:
    """Whether the donor's answer is surely wrong at the receiver's question: another question with other right answers, a text that is
    neither the receiver's own answer nor one of its right answers, and not empty."""
    return (
        bool(donor.said) and receiver.question != donor.question and receiver.said != donor.said
        and donor.said not in receiver.right and receiver.right.isdisjoint(donor.right)
    )


def derange(places: Sequence[AnswerMarks], rng: Random) -> Shuffled:
    """A wrong answer for each place, each answer used once as far as that can be.

    A random permutation whose bad places are swapped with others; where that leaves some and there are at most 1,000 places, the
    largest matching there is (Hopcroft and Karp 1973); what is still left gets an answer that another place has too.
    """
    # a matching alone would do, but its table of who fits whom has places^2 cells, and swaps nearly always suffice
    taken: list[int | None] = list(rng.sample(range(len(places)), len(places)))
    _swap(places, taken, rng)
    if any(_bad(places, place, donor) for place, donor in enumerate(taken)) and len(places) <= EXACT:
        taken = _matched(places, rng)
    reused = 0
    usable: dict[frozenset[bytes], list[int]] = {}
    for place, donor in enumerate(taken):
        if _bad(places, place, donor):
            taken[place] = _any_donor(places, place, usable, rng)
            reused += taken[place] is not None
    return Shuffled(tuple(taken), reused)


def _bad(places: Sequence[AnswerMarks], at: int, donor: int | None) -> bool:
    return donor is None or not wrong_for(places[at], places[donor])


def _swap(places: Sequence[AnswerMarks], taken: list[int | None], rng: Random) -> None:
    """Swaps the answers of bad places with those of others where both are good afterwards."""
    everywhere = range(len(places))
    for place in everywhere:
        if not _bad(places, place, taken[place]):
            continue
        for other in rng.sample(everywhere, min(TRIES, len(places))):
            if not _bad(places, place, taken[other]) and not _bad(places, other, taken[place]):
                taken[place], taken[other] = taken[other], taken[place]
                break


def _matched(places: Sequence[AnswerMarks], rng: Random) -> list[int | None]:
    """The largest matching of places with wrong answers, found in a shuffled order."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    n = len(places)
    order = rng.sample(range(n), n)
    fits = np.array([[wrong_for(places[place], places[donor]) for donor in order] for place in order], dtype=bool)
    matching = maximum_bipartite_matching(csr_matrix(fits), perm_type="column")
    taken: list[int | None] = [None] * n
    for place, donor in zip(order, matching, strict=True):
        taken[place] = order[donor] if donor >= 0 else None
    return taken


def _any_donor(places: Sequence[AnswerMarks], at: int, usable: dict[frozenset[bytes], list[int]], rng: Random) -> int | None:
    """Any wrong answer for a place. `usable`: by right answers, the places that fit these; looked through once for all of them."""
    receiver = places[at]
    if receiver.right not in usable:
        usable[receiver.right] = [
            n for n, donor in enumerate(places)
            if donor.said and donor.said not in receiver.right and receiver.right.isdisjoint(donor.right)
        ]
    fitting = usable[receiver.right]
    for _ in range(TRIES if fitting else 0):
        if wrong_for(receiver, places[donor := rng.choice(fitting)]):
            return donor
    return next((donor for donor in fitting if wrong_for(receiver, places[donor])), None)


Condition = Literal["answered", "reference", "wrong"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
NO_WRONG, NO_REFERENCE = "no other answer is surely wrong there", "no reference"
NOT_GIVEN = "no wrong answer to the question is given"


class _MovedAnswer(BaseModel):
    """What moves with an answer to another question."""

    answer: str
    triples: list[Triple] | None = None
    citations: list[Citation] | None = None
    reasoning: list[str] | None = None


class Conditions(Mapping[Condition, Iterable[Row]]):
    """Condition -> rows, as often as wanted. A context manager: the answers lie in a temporary file meanwhile.

    A row for which no wrong answer can be found is left out of all three; one without a reference of `reference` only. `left_out`:
    why -> rows. `reused`: wrong answers that stand in more than one place. `sizes`: rows by condition. `given`: wrong answers of the
    user's own, which the rows of a question take in turns; `unused`: lines of them about no question of the rows. Raises: InputError
    where the disk is full, and for given answers that are right ones or all about other questions.
    """

    def __init__(self, rows: Iterable[Row], seed: int, given: WrongAnswers | None = None) -> None:
        self._rows = rows
        self._given = given
        self._right: dict[str, str] = {}  # place of a given answer that is no wrong one -> what is wrong with it
        of_rows: set[str] = set()
        self._starts, self._donors = array("q", [0]), array("q")
        try:
            self._file = tempfile.TemporaryFile()  # nobody else can open it, and it is gone when it is closed  # noqa: SIM115
            # texts lie on the disk and marks of 12 bytes in memory: a million answers stay in little room
            places = self._read(rows, of_rows)
        except OSError as cause:
            raise InputError(
                f"answers cannot be kept in a temporary file: {cause.strerror}", fix="make room, or name another folder with TMPDIR",
            ) from cause
        if self._right:
            self.close()
            raise InputError(
                "answers that were given as wrong ones are right", faults=[f"{where}: {what}" for where, what in self._right.items()],
                fix="take them out of the file, or out of the references",
            )
        self.unused = 0 if given is None else len(given.places - of_rows)
        if given is not None and places and not of_rows:
            self.close()
            raise InputError(
                f"none of the wrong answers ({plural(self.unused, 'line')}) is to a question of these answers",
                fix="give the ids of these questions as question_id, or their texts as question",
            )
        self._donors, self.reused = _donors(places, seed) if given is None else (self._donors, 0)
        lacking = sum(not place.right for place, donor in zip((p for _, p in places), self._donors, strict=True) if donor >= 0)
        used = len(places) - self._donors.count(-1)
        self.sizes: Mapping[Condition, int] = {"answered": used, "reference": used - lacking, "wrong": used}
        none = NO_WRONG if given is None else NOT_GIVEN
        self.left_out = {why: n for why, n in ((none, len(places) - used), (NO_REFERENCE, lacking)) if n}

    def _read(self, rows: Iterable[Row], of_rows: set[str]) -> list[tuple[str, AnswerMarks]]:
        """System and marks of each row. `of_rows`: gets the places of given wrong answers to their questions."""
        places = []
        for row in rows:
            right = frozenset(mark for text in row.question.right_answers if (mark := _mark(text)))
            places.append((row.answer.system, AnswerMarks(row.question.id, _mark(answer_text(row)), right)))
            if self._given is not None:
                wrong = self._given.of(row.question)
                self._donors.append(0 if wrong else -1)
                of_rows.update(where for where, _ in wrong)
                self._right |= {
                    where: f"'{answer[:60]}' is a right answer to question {row.question.id}"
                    for where, answer in wrong if _mark(answer) in right
                }
                continue
            answer = row.answer
            moved = _MovedAnswer(answer=answer.answer, triples=answer.triples, citations=answer.citations, reasoning=answer.reasoning)
            self._starts.append(self._starts[-1] + self._file.write(moved.model_dump_json().encode("utf-8", "surrogatepass")))
        self._file.flush()
        return places

    def __getitem__(self, condition: Condition) -> Iterable[Row]:
        return _Repeatable(lambda: self._made(condition))

    def __iter__(self) -> Iterator[Condition]:
        return iter(CONDITIONS)

    def __len__(self) -> int:
        return len(CONDITIONS)

    def _made(self, condition: Condition) -> Iterator[Row]:
        turns = Counter[str]()
        for n, row in enumerate(self._rows):
            if self._donors[n] < 0:
                continue
            if condition == "answered":
                yield row
            elif condition == "wrong" and self._given is not None:
                wrong = self._given.of(row.question)
                yield _with(row, _MovedAnswer(answer=wrong[turns[row.question.id] % len(wrong)][1]))
                turns[row.question.id] += 1
            elif condition == "wrong":
                start, end = self._starts[self._donors[n]], self._starts[self._donors[n] + 1]
                moved = os.pread(self._file.fileno(), end - start, start)  # no seek: two iterations may be under way
                yield _with(row, _MovedAnswer.model_validate_json(moved))
            elif right := row.question.right_answers:
                yield _with(row, _MovedAnswer(answer=right[0]))

    def close(self) -> None:
        """Deletes the temporary file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class _Repeatable:
    """An iterable that can be gone through as often as wanted."""

    def __init__(self, make: Callable[[], Iterator[Row]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Row]:
        return self._make()


def conditions(rows: Iterable[Row], seed: int, given: WrongAnswers | None = None) -> Conditions:
    """The three conditions of rows that can be gone through several times. The contexts stay with their question.

    A wrong answer comes from the same system, from another question with other right answers, and is neither the text that was
    answered here nor a right answer here (compared as words: `words.words`). The same seed gives the same answers. `given`: these instead.
    """
    return Conditions(rows, seed, given)


def _with(row: Row, other: _MovedAnswer) -> Row:
    """The row with another answer; what was said of the old one (length, error, cost stays) goes where it would be untrue."""
    answer: Answer = row.answer.model_copy(
        update={**dict(other), "error": None, "aligned_to": None},
    )
    return row.model_copy(update={"answer": answer})


def _mark(text: str) -> bytes:
    said_words = words(text)
    return hashlib.blake2b(" ".join(said_words).encode("utf-8", "surrogatepass"), digest_size=12).digest() if said_words else b""


def _donors(places: list[tuple[str, AnswerMarks]], seed: int) -> tuple[array[int], int]:
    """For each row the row whose answer it gets, or -1; and how many answers are used again. Each system for itself."""
    systems: dict[str, list[int]] = {}
    for n, (system, _) in enumerate(places):
        systems.setdefault(system, []).append(n)
    donors, reused = array("q", [-1]) * len(places), 0
    for system, members in systems.items():
        shuffled = derange([places[n][1] for n in members], Random(f"{seed} {system}"))  # noqa: S311  (no secret)
        reused += shuffled.reused
        for n, donor in zip(members, shuffled.donors, strict=True):
            donors[n] = -1 if donor is None else members[donor]
    return donors, reused
