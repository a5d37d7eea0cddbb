"""What may be concluded of two systems, with all that it rests on."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import OfPair, Public, Record
from kgeval.records.comparison_judge import Estimated

Conclusion = Literal["a better", "b better", "equal", "no difference found", "not decidable"]


class SystemCoverage(Record):
    """Of `questions` asked of a system: how many it answered with no text (`empty`), and how many with an error (`errors`), in one trial
    at least; `absent`: for how many there is no answer at all."""

    system: Public
    questions: int
    empty: int = 0
    errors: int = 0
    absent: int = 0


class DrawnGroups(Record):
    """What was drawn: `groups` of `unit` (document, entity, question, or the field that was named) hold `questions` with a result, which
    are as sure as `effective` independent ones (null: not known, under 2 groups)."""

    unit: Public = "question"
    groups: int
    questions: int
    effective: float | None = None


class Outcome(OfPair):
    """One conclusion about two systems: the headline, the gates and the exit code only show it.

    `of`: what decides (`relative win rate`, the same corrected by labels of people, a metric), `figure`: its value, A minus B, with its
    interval; `beside`: what else was measured. `within`: of `equal`: the interval lies inside -within..within. `because`: of `not
    decidable`: why. `missing`: questions without a result; `lowest`, `highest`: the figure if all of them were lost, won by A.
    `flat_aspects`: aspects in which the judge tells nothing apart, with why: gates on them have no answer.
    """

    of: Public = "relative win rate"
    conclusion: Conclusion
    figure: Estimated
    beside: dict[Public, Estimated] = Field(default_factory=dict)
    within: float | None = None
    because: list[Public] = Field(default_factory=list)
    groups: DrawnGroups
    coverage: list[SystemCoverage]
    missing: int = 0
    lowest: Estimated = Field(default_factory=Estimated)
    highest: Estimated = Field(default_factory=Estimated)
    flat_aspects: dict[Public, Public] = Field(default_factory=dict)
