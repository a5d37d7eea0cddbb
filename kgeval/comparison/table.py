"""Verdicts of one pair of systems as arrays: the shape that every figure of a comparison is made from. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from kgeval.comparison.align.rule import Side
from kgeval.records import ComparisonVerdict, Procedure
from kgeval.rounding import REST

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

OVERALL = "overall"
GRADED: frozenset[Procedure] = frozenset({"scores", "differential"})
LEAST_NOISE = 6  # question-trials in both orders
SILENT: dict[Side, float] = {"a": -1.0, "b": 1.0, "both": 0.0}
_TURNED: dict[Side, Side] = {"a": "b", "b": "a", "both": "both"}


@dataclass(frozen=True)
class PairQuestion:
    """One question of a pair: its id and groups; `document`: what it was drawn with (`Question.drawn_with`), None: nothing. `discarded`:
    trials left out because the lengths could not be brought together; `padded`: trials in which a model added or took away words."""

    question_id: str
    dataset: str | None = None
    level: str | None = None
    discarded: frozenset[int] = frozenset()
    document: str | None = None
    padded: frozenset[int] = frozenset()


@dataclass(frozen=True)
class PairTable:
    """All that was said of one pair.

    `points`: (questions, trials, positions, repeats, aspects, 2 sides), NaN where a call failed or was not made; side 0 is A; position 0:
    A stood first, 1: B did (one position only, where answers were shown alone or the order is fixed). `words`: (questions, trials, 2), NaN
    where unknown. `forms`: (questions, trials, 2, 3) counts of headings, bold passages and list items of the answers as judged, None where
    nobody counted. `failures`: (question index, trial index) -> cause; `unanswered`: the same -> whose answer is an error (then it is
    among the failures) or has no words. `banded`: points within the judge's own noise are ties (`tie_band`). Where the judge named an
    overall winner itself, that is an aspect called `overall`.
    """

    system_a: str
    system_b: str
    questions: tuple[PairQuestion, ...]
    aspects: tuple[str, ...]
    points: Floats = field(repr=False)
    words: Floats = field(repr=False)
    forms: Floats | None = field(default=None, repr=False)
    failures: dict[tuple[int, int], str] = field(default_factory=dict)
    procedure: Procedure = "scores"
    unanswered: dict[tuple[int, int], Side] = field(default_factory=dict)
    banded: bool = True

    def without(self, question_ids: Collection[str]) -> PairTable:
        """The table of the other questions."""
        kept = [place for place, question in enumerate(self.questions) if question.question_id not in question_ids]
        if len(kept) == len(self.questions):
            return self
        place_of = {place: number for number, place in enumerate(kept)}
        return replace(
            self, questions=tuple(self.questions[place] for place in kept), points=self.points[kept], words=self.words[kept],
            forms=None if self.forms is None else self.forms[kept],
            failures={(place_of[place], trial): cause for (place, trial), cause in self.failures.items() if place in place_of},
            unanswered={(place_of[place], trial): who for (place, trial), who in self.unanswered.items() if place in place_of},
        )

    @cached_property
    def documents(self) -> Whole:
        """The number of what each question was drawn with, (questions,); one without such a thing has a number of its own."""
        from kgeval.stats.grouped import group_numbers

        return group_numbers(question.document for question in self.questions)

    @property
    def chosen_overall(self) -> bool:
        """True where the overall winner is the judge's own choice, not the sum."""
        return OVERALL in self.aspects

    def call_gaps(self, aspect: str = OVERALL) -> Floats:
        """Points of A minus points of B in each call, (questions, trials, positions, repeats); `overall`: the sum over aspects, or the
        judge's own choice. NaN where the call is lacking. Raises: KeyError for an aspect that is none of these."""
        difference = self.points[..., 0] - self.points[..., 1]
        if aspect == OVERALL and not self.chosen_overall:
            summed: Floats = difference.sum(axis=-1)
            return summed
        if aspect not in self.aspects:
            raise KeyError(aspect)
        of_aspect: Floats = difference[..., self.aspects.index(aspect)]
        return of_aspect

    def gaps(self, aspect: str = OVERALL) -> Floats:
        """Means of `call_gaps` over positions and repeats, (questions, trials).

        NaN where any call of the question and trial is lacking: half an exchange of positions would be biased. Raises: KeyError.
        """
        means: Floats = self.call_gaps(aspect).mean(axis=(2, 3))
        return means

    def judged_wins(self, aspect: str = OVERALL) -> Floats:
        """1 where the judge has A win, 0 for a tie, -1 where B does, NaN where it did not judge; (questions, trials)."""
        return self.winners(self.gaps(aspect), within=self.tie_band(aspect) or 0.0)

    def tie_band(self, aspect: str = OVERALL) -> float | None:
        """Points within which a mean over both orders is the judge's own noise: one standard deviation of half the difference between the
        orders of one question-trial, without the preference for a place that all have in common. None where that cannot be seen: one order
        only, a choice instead of points, fewer than LEAST_NOISE question-trials, or where no band is wanted."""
        import numpy as np

        if not self.banded or self.procedure not in GRADED or self.points.shape[2] < 2:
            return None
        orders = self.call_gaps(aspect).mean(axis=3)  # (questions, trials, positions)
        halves = (orders[..., 0] - orders[..., 1]) / 2
        halves = halves[~np.isnan(halves)]
        return float(halves.std(ddof=1)) if len(halves) >= LEAST_NOISE else None

    def wins(self, aspect: str = OVERALL) -> Floats:
        """The same with what needs no judge: a system without an answer loses to one with an answer, and two without are equal."""
        won = self.judged_wins(aspect)
        for place, who in self.unanswered.items():
            if place not in self.failures:
                won[place] = SILENT[who]
        return won

    def winners(self, gaps: Floats, *, within: float = 0.0) -> Floats:
        """1 where A has more points, 0 where both have the same but for rounding (or differ by `within` at most), -1 where B has more, NaN
        where nobody knows."""
        import numpy as np

        from kgeval.stats.rests import magnitude

        won: Floats = np.where(np.abs(gaps) <= within + REST * magnitude(self.points), 0.0, np.sign(gaps))
        return won

    def question_wins(self, aspect: str = OVERALL) -> Floats:
        """Win minus loss of A by question, in -1..1: the mean over its trials; NaN where no trial has a result; (questions,)."""
        from kgeval.stats.clustered import question_means

        return question_means(self.wins(aspect))


def table_of(
    verdicts: Iterable[ComparisonVerdict], questions: Iterable[PairQuestion], *, pair: tuple[str, str], aspects: tuple[str, ...],
    trials: int, positions: int, repeats: int, procedure: Procedure = "scores", banded: bool = True,
) -> PairTable:
    """The table of one pair. Verdicts of other pairs, procedures or unknown questions are passed over; those of the pair written the
    other way round (B, A) have their sides swapped. Of two verdicts for one place the later counts."""
    import numpy as np

    question_rows = tuple(questions)
    row_of = {question.question_id: number for number, question in enumerate(question_rows)}
    points = np.full((len(question_rows), trials, positions, repeats, len(aspects), 2), np.nan)
    words = np.full((len(question_rows), trials, 2), np.nan)
    failures: dict[tuple[int, int], str] = {}
    unanswered: dict[tuple[int, int], Side] = {}
    aspect_place = {name: number for number, name in enumerate(aspects)}
    for verdict in verdicts:
        swapped = (verdict.system_b, verdict.system_a) == pair
        q, aspect = row_of.get(verdict.question_id), aspect_place.get(verdict.aspect)
        if verdict.procedure != procedure or q is None or aspect is None or not (swapped or (verdict.system_a, verdict.system_b) == pair):
            continue
        t, r = verdict.trial - 1, verdict.repeat - 1
        if not (0 <= t < trials and 0 <= r < repeats):
            continue
        p = 0 if positions == 1 or verdict.first in (None, pair[0]) else 1
        scores, lengths = (verdict.score_a, verdict.score_b), (verdict.length_a, verdict.length_b)
        sides = (1, 0) if swapped else (0, 1)
        for side, value, length in zip(sides, scores, lengths, strict=True):
            points[q, t, p, r, aspect, side] = np.nan if value is None else value
            words[q, t, side] = np.nan if length is None else length
        if verdict.failure is not None:
            failures[q, t] = verdict.failure
        if verdict.unanswered is not None:
            unanswered[q, t] = _TURNED[verdict.unanswered] if swapped else verdict.unanswered
    return PairTable(pair[0], pair[1], question_rows, aspects, points, words, None, failures, procedure, unanswered, banded)
