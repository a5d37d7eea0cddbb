"""Verdicts of one pair of systems as arrays: the shape that every figure of a comparison is made from. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.records import ComparisonVerdict, Procedure

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

EQUAL = 1e-9  # points nearer than this are equal: means of whole and half points are exact, sums of them nearly
OVERALL = "overall"


@dataclass(frozen=True)
class PairQuestion:
    """One question of a pair: its id and groups. `discarded`: trials left out because the lengths could not be brought together."""

    question_id: str
    dataset: str | None = None
    level: str | None = None
    discarded: frozenset[int] = frozenset()


@dataclass(frozen=True)
class PairTable:
    """All that was said of one pair.

    `points`: (questions, trials, positions, repeats, aspects, 2 sides), NaN where a call failed or was not made; side 0 is A; position 0:
    A stood first, 1: B did (one position only, where answers were shown alone or the order is fixed). `words`: (questions, trials, 2),
    NaN where unknown. `forms`: (questions, trials, 2, 3) counts of headings, bold passages and list items of the answers as judged, null
    where nobody counted. `failures`: (question index, trial index) -> cause. Where the judge named an overall winner himself, that is an
    aspect called `overall`.
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

    @property
    def chosen_overall(self) -> bool:
        """True where the overall winner is the judge's own choice, not the sum."""
        return OVERALL in self.aspects

    def gaps(self, aspect: str = OVERALL) -> Floats:
        """Points of A minus points of B, (questions, trials): means over positions and repeats; `overall`: the sum over aspects.

        NaN where any call of the question and trial is lacking: half an exchange of positions would be biased. Raises: KeyError.
        """
        difference = self.points[..., 0] - self.points[..., 1]
        if aspect == OVERALL and not self.chosen_overall:
            summed: Floats = difference.sum(axis=-1).mean(axis=(2, 3))
            return summed
        if aspect not in self.aspects:
            raise KeyError(aspect)
        one: Floats = difference[..., self.aspects.index(aspect)].mean(axis=(2, 3))
        return one

    def wins(self, aspect: str = OVERALL) -> Floats:
        """1 where A wins, 0 for a tie, -1 where B does, NaN where nobody knows; (questions, trials)."""
        import numpy as np

        gaps = self.gaps(aspect)
        made: Floats = np.where(np.isnan(gaps), np.nan, np.where(np.abs(gaps) <= EQUAL, 0.0, np.sign(gaps)))
        return made


def table_of(
    verdicts: Iterable[ComparisonVerdict], questions: Iterable[PairQuestion], *, pair: tuple[str, str], aspects: tuple[str, ...],
    trials: int, positions: int, repeats: int, procedure: Procedure = "scores",
) -> PairTable:
    """The table of one pair. Verdicts of other pairs, procedures or unknown questions are passed over; those of the pair written the
    other way round (B, A) are turned. Of two verdicts for one place the later counts."""
    import numpy as np

    asked = tuple(questions)
    at = {one.question_id: number for number, one in enumerate(asked)}
    points = np.full((len(asked), trials, positions, repeats, len(aspects), 2), np.nan)
    words = np.full((len(asked), trials, 2), np.nan)
    failures: dict[tuple[int, int], str] = {}
    place = {name: number for number, name in enumerate(aspects)}
    for verdict in verdicts:
        turned = (verdict.system_b, verdict.system_a) == pair
        q, aspect = at.get(verdict.question_id), place.get(verdict.aspect)
        if verdict.procedure != procedure or q is None or aspect is None or not (turned or (verdict.system_a, verdict.system_b) == pair):
            continue
        t, r = verdict.trial - 1, verdict.repeat - 1
        if not (0 <= t < trials and 0 <= r < repeats):
            continue
        p = 0 if positions == 1 or verdict.first in (None, pair[0]) else 1
        scores, lengths = (verdict.score_a, verdict.score_b), (verdict.length_a, verdict.length_b)
        sides = (1, 0) if turned else (0, 1)
        for side, value, length in zip(sides, scores, lengths, strict=True):
            points[q, t, p, r, aspect, side] = np.nan if value is None else value
            words[q, t, side] = np.nan if length is None else length
        if verdict.failure is not None:
            failures[q, t] = verdict.failure
    return PairTable(pair[0], pair[1], asked, aspects, points, words, None, failures, procedure)
