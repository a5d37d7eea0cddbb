"""Whether metrics tell right answers from wrong ones."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import Public, Record
from kgeval.records.manifest import RunReport
from kgeval.records.scores import MetricInfo, Spread


class ConditionScores(Record):
    """The scores of one metric under one condition: answered (the rows as they are), reference (the reference in the answer's place),
    wrong (a wrong answer in its place: that of another question, or one that was given).

    `n` rows, `n_scored` of them with a value, `not_applicable` without a meaning; the rest failed, by cause in `failures`.
    """

    condition: Literal["answered", "reference", "wrong"]
    n: int
    n_scored: int
    not_applicable: int = 0
    failures: dict[Public, int] = Field(default_factory=dict)
    mean: float | None = None
    spread: Spread = Field(default_factory=Spread)


class Sensitivity(Record):
    """One metric of one system (`system` null: of all systems together).

    `auc_reference`: the chance (0..1) that a reference scores better than a wrong answer, ties counted half; `auc_answered`: that what
    was answered does. 0.5: the metric cannot tell. Better is lower where the metric's `better` says so. `separation_*`: difference of
    the medians, the wrong ones subtracted. Null where a side has no scored row.
    """

    system: Public | None
    metric: Public
    better: Literal["higher", "lower"] = "higher"
    conditions: list[ConditionScores]
    auc_reference: float | None = Field(default=None, ge=0, le=1)
    auc_answered: float | None = Field(default=None, ge=0, le=1)
    separation_reference: float | None = None
    separation_answered: float | None = None


class SensitivityReport(RunReport):
    """Scores under the three conditions, and how well they are told apart. `left_out`: rows that could not be used, by reason.

    `reused`: wrong answers that stand in more than one place, because not enough answers were wrong there. `wrong_given`: the wrong answers
    are the user's own; else those of other questions.
    """

    complete: bool = True
    seed: int
    rows: int
    left_out: dict[Public, int] = Field(default_factory=dict)
    reused: int = 0
    wrong_given: bool = False
    metrics: list[MetricInfo] = Field(default_factory=list)
    results: list[Sensitivity] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
