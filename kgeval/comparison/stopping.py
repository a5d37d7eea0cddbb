"""When a comparison is sure enough to stop: a confidence sequence over questions, and a region in which systems count as equal. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isnan
from typing import Literal

from kgeval.stats.intervals import Interval
from kgeval.stats.sequence import ConfidenceSequence

Decision = Literal["a", "b", "equal"]

TIE_REGION = 0.1
LEAST = 20  # the smallest number of questions that [M] calls a comparison; the error is held without it too
TRIALS = 3  # trials a question while stopping is allowed, where nobody says otherwise: docs/sequential.md says what 1 to 5 of them cost


@dataclass
class Stopping:
    """Takes the relative win rate (-1..1) of each question, in seeded random order, until one thing is sure:

    a: the interval lies above the tie region (low > tie_region); b: below it (high < -tie_region); equal: inside it.
    Each of them is wrong only where the confidence sequence misses the true mean: "a" while that is <= tie_region, "b" while it is
    >= -tie_region, "equal" while it is outside. So whenever one stops, a wrong decision has a chance of at most 1 - confidence; "a" or
    "b" for equal systems far less. A tie region of 0 asks only whether 0 is excluded, and never says "equal".

    The true mean is that of the population that the questions were drawn from, by this judge and procedure. A question's value is the mean
    of its trials that have a result, and these the mean over positions and repeats: nothing within a question counts as a new question.
    `least`: questions before anything is decided. A decision is final: what comes later is not taken.
    Raises: ValueError for a tie region outside 0..1, a confidence outside 0..1, or least < 1.
    """

    tie_region: float = TIE_REGION
    confidence: float = 0.95
    least: int = LEAST
    decision: Decision | None = None
    _sequence: ConfidenceSequence = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.tie_region < 1 or self.least < 1:
            raise ValueError(f"no tie region of {self.tie_region} with at least {self.least} questions: give 0 <= region < 1, least >= 1")
        self._sequence = ConfidenceSequence(self.confidence)

    def add(self, question_means: float | Iterable[float | None] | None) -> Decision | None:
        """The decision after these questions too, None while it is open. One value a question, in order; None or NaN: the question has
        no result, it is passed over. How the questions are cut into calls changes nothing. Raises: ValueError for a value outside -1..1."""
        values = [question_means] if question_means is None or isinstance(question_means, int | float) else question_means
        for value in values:
            if self.decision is None and value is not None and not isnan(value):
                self._sequence.add([value])
                self.decision = self._decided()
        return self.decision

    @property
    def questions(self) -> int:
        """Questions with a result that were taken."""
        return self._sequence.n

    @property
    def interval(self) -> Interval:
        """The confidence sequence now, or where the decision fell."""
        return self._sequence.interval

    @property
    def low(self) -> float:
        """The interval's low end."""
        return self.interval.low

    @property
    def high(self) -> float:
        """The interval's high end."""
        return self.interval.high

    def _decided(self) -> Decision | None:
        if self.questions < self.least:
            return None
        if self.low > self.tie_region:
            return "a"
        if self.high < -self.tie_region:
            return "b"
        return "equal" if -self.tie_region < self.low and self.high < self.tie_region else None
